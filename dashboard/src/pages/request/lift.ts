import { isRecord } from '../../api/errors.ts';
import type { Schemas } from '../../api/client.ts';

type Endpoint = Schemas['GenerationRoute']['considered'][number];

/** What would let an endpoint serve a request that it was left out of. */
export interface Lift {
  readonly words: string;
  /** Members to send, where the request itself can change it. */
  readonly change?: Readonly<Record<string, unknown>>;
}

/** The smallest change for each reason. `undefined`: nothing is known that would help. */
export function liftOf({ reason, lacks, tag, price }: Endpoint): Lift | undefined {
  switch (reason) {
    case 'allowed_providers':
      return { words: 'Allow this provider.', change: { provider: { only: [tag.split('/', 1)[0]] } } };
    case 'allow_fallbacks':
      return { words: 'Allow fallbacks.', change: { provider: { allow_fallbacks: true } } };
    case 'data_policy:training':
      return {
        words: 'Allow that the provider keeps what it gets.',
        change: { provider: { data_collection: 'allow' } },
      };
    case 'data_policy:zdr':
      return { words: 'Do not demand zero data retention.', change: { provider: { zdr: false } } };
    case 'max_price':
      return priceLift(price);
    case 'require_parameters':
      return {
        words:
          lacks === null ? 'Do not demand every parameter.' : `Leave out ${lacks}, or do not demand every parameter.`,
        change: { provider: { require_parameters: false } },
      };
    case 'parameter_value':
    case 'input_modalities':
    case 'vendor_tools':
      return lacks === null ? undefined : { words: `Leave out ${lacks}.` };
    case 'context_length':
      return {
        words: 'Send a shorter prompt, or the plugin context-compression.',
        change: { plugins: [{ id: 'context-compression' }] },
      };
    case 'max_tokens':
      return { words: 'Want fewer tokens with max_tokens.' };
    case 'service_tier':
      return { words: 'Leave out service_tier.' };
    case 'credentials':
      return { words: 'Bring a credential for this provider, or set one in the configuration.' };
    case 'price_unknown':
      return { words: 'Give the endpoint a price in the configuration: spending limits need one.' };
    case 'guardrail:models':
    case 'guardrail:providers':
    case 'guardrail:zdr':
    case 'guardrail:training':
      return { words: 'A guardrail of the key, its member or its workspace forbids it: its owner can change that.' };
    case null:
    default:
      return undefined;
  }
}

/** Prices of the API are numbers, USD per million tokens. */
function priceLift(price: Endpoint['price']): Lift {
  const parts = isRecord(price) ? price : {};
  const max = Object.fromEntries(
    (['prompt', 'completion'] as const).flatMap((part) => {
      const value = parts[part];
      return typeof value === 'number' ? [[part, value]] : [];
    }),
  );
  return {
    words: 'Allow its price.',
    ...(Object.keys(max).length > 0 && { change: { provider: { max_price: max } } }),
  };
}
