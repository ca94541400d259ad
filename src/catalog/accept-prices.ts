import { endpointKey } from './endpoint-key.ts';
import type { PriceFault, RefreshedCatalog, RefreshedEndpoint, RefreshedPrice } from './refreshed.ts';

/** A price that moved by more than this is a slip, or news for a person. */
const MOVE_MAX = 4;
/** A prompt that costs more than this many times its answer belongs to swapped columns. */
const PROMPT_SHARE_MAX = 4;

/**
 * Leaves out prices that look wrong: aggregators and subscription plans list zeros, and a typing error must not reach a
 * bill. A price that changed too much since the last refresh stays as it was.
 * @param isMoveFine the operator accepts the changed ones
 * @spec catalog-20
 */
export function acceptPrices(
  endpoints: readonly RefreshedEndpoint[],
  last: RefreshedCatalog | undefined,
  isMoveFine: boolean,
): Pick<RefreshedCatalog, 'endpoints' | 'refused'> {
  const before = new Map(last?.endpoints.map((endpoint) => [endpointKey(endpoint), endpoint.price]));
  const refused: RefreshedCatalog['refused'] = [];
  const accepted = endpoints.map((endpoint) => {
    const { price: listed, ...facts } = endpoint;
    const known = before.get(endpointKey(endpoint));
    const fault =
      faultOf(listed) ?? (known !== undefined && !isMoveFine && movedFar(listed, known) ? MOVED : undefined);
    if (fault === undefined) return endpoint;
    refused.push({ provider: endpoint.provider, model: endpoint.model, fault });
    return fault === MOVED && known !== undefined ? { ...facts, price: known } : facts;
  });
  return { endpoints: accepted, refused };
}

const MOVED: PriceFault = 'moved too far';

function faultOf(price: RefreshedPrice | undefined): PriceFault | undefined {
  if (price === undefined) return 'no price';
  if (price.prompt === 0 || price.completion === 0) return 'free';
  return price.prompt > price.completion * PROMPT_SHARE_MAX ? 'dearer to read than to write' : undefined;
}

/** Whether one of the two rates differs by more than four times, up or down. */
export function movedFar(
  price: Pick<RefreshedPrice, 'prompt' | 'completion'> | undefined,
  known: Pick<RefreshedPrice, 'prompt' | 'completion'>,
): boolean {
  if (price === undefined) return false;
  const isFar = (one: number, other: number): boolean => Math.max(one, other) > MOVE_MAX * Math.min(one, other);
  return isFar(price.prompt, known.prompt) || isFar(price.completion, known.completion);
}
