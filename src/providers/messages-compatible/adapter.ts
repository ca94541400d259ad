import { failureOfMeaning, MEANINGS, type MeaningOfFailure } from '../../canonical/failure/failure-meaning.ts';
import type { Dialect } from '../../wire/format.ts';
import type { CallContext, FailedAnswer, ProviderAdapter } from '../contract.ts';

const API_VERSION = '2023-06-01';

// Hosts of the format run other models, so the vendor's newest features are not assumed: no vendor tools, the
// `thinking` that every version of the format has, and a schema in words.
const DIALECT: Dialect = { vendor: false, thinking: 'budget', efforts: [], structuredOutput: false };

/** Any host that speaks the messages format. Everything else comes from the operator's configuration. */
export const messagesCompatibleAdapter: ProviderAdapter = {
  id: 'messages-compatible',
  name: 'Messages-compatible',
  formats: [{ format: 'messages' }],
  dialect: () => DIALECT,
  authorize,
  classify,
};

/**
 * Both headers, because some hosts read only `authorization` (MiniMax: NousResearch/hermes-agent#4002, 2026-03) and
 * some only `x-api-key` (QwenLM/qwen-code#4323, 2026-05); hosts ignore the one that they do not know
 * (decolua/9router#1795, 2026-06). The vendor itself refuses a key as a bearer, which is why it has its own adapter.
 */
function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return {
    'anthropic-version': API_VERSION,
    ...(settings.apiKey !== undefined && {
      authorization: `Bearer ${settings.apiKey}`,
      'x-api-key': settings.apiKey,
    }),
  };
}

function classify({ error }: FailedAnswer): MeaningOfFailure | undefined {
  return error.type === 'overloaded_error' ? failureOfMeaning(MEANINGS.overloaded) : undefined;
}
