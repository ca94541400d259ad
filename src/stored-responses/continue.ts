import { invalid } from '../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { ResponseLink, ResponseReader, ResponseRows } from '../state/contract.ts';
import { idOf, isUnderWay, isUnfinishedCall, objectsOf, parseItems, type TurnItems } from './items.ts';
import { learnOrigins, type KnownOrigins } from './origins.ts';
import { brokenChain, cannotContinue, chainTooLarge, chainTooLong, storeIsAway, unfinished } from './refusals.ts';

/** Responses that one request may continue, one after the other. */
const CHAIN_LINKS_MAX = 1_000;

export interface ContinueDeps {
  readonly rows: Pick<ResponseRows, 'findChain' | 'findByItems'>;
  readonly origins: KnownOrigins;
  /** Of everything that a request continues or refers to, as a request could have sent it. */
  readonly bytesMax: number;
}

/**
 * The conversation that a request continues, from its beginning: of each response its input, then its output.
 * @throws GatewayError 400 at `previous_response_id`; 503 while it cannot be read
 */
export async function readHistory(
  { rows, origins, bytesMax }: ContinueDeps,
  reader: ResponseReader,
  previousId: string,
): Promise<readonly JsonObject[]> {
  const bounds = { linksMax: CHAIN_LINKS_MAX, charsMax: bytesMax };
  const links = await rows.findChain(previousId, reader, bounds).catch((error: unknown) => {
    throw storeIsAway(error);
  });
  const [newest] = links;
  const oldest = links.at(-1);
  if (newest === undefined || oldest === undefined) throw cannotContinue();
  if (isUnderWay(newest.status)) throw unfinished();
  if (sizeOf(links) > bytesMax) throw chainTooLarge(bytesMax);
  if (links.length > CHAIN_LINKS_MAX) throw chainTooLong(CHAIN_LINKS_MAX);
  if (oldest.parentId !== null) throw brokenChain(links.length);
  return links.toReversed().flatMap(({ status, items }) => {
    const turn = parseItems(items);
    learnOrigins(turn, reader, origins);
    const { input, output } = turn;
    return [...input, ...(status === 'completed' ? output : output.filter((item) => !isUnfinishedCall(item)))];
  });
}

/**
 * The kept items that the input of a request names, by their ids. What is not found is missing: the decoder says where.
 * @throws GatewayError 400 where they are too large together, or one refers to its own list; 503 while they cannot be read
 */
export async function readReferences(
  { rows, origins, bytesMax }: ContinueDeps,
  reader: ResponseReader,
  named: ReadonlySet<string>,
): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  if (named.size === 0) return found;
  const links = await rows.findByItems([...named], reader, bytesMax).catch((error: unknown) => {
    throw storeIsAway(error);
  });
  if (sizeOf(links) > bytesMax)
    throw invalid('input', `refers to kept responses of more than ${bytesMax} bytes: send the items themselves`);
  // Of several with one id the newest counts.
  const byAge = links.toSorted((one, other) => one.createdAtMs - other.createdAtMs);
  for (const { items } of byAge) {
    const turn = parseItems(items);
    learnOrigins(turn, reader, origins);
    takeNamed(turn, named, found);
  }
  return found;
}

function takeNamed({ input, output }: TurnItems, named: ReadonlySet<string>, found: Map<string, JsonObject>): void {
  for (const item of [...input, ...output]) {
    const id = idOf(item);
    if (id !== undefined && named.has(id)) found.set(id, item);
  }
}

function sizeOf(links: readonly ResponseLink[]): number {
  return links.reduce((sum, { items }) => sum + items.length, 0);
}

/**
 * The ids of kept items that an input names.
 * @throws GatewayError 400 for one that names an item of the same input
 */
export function namedItems(input: Json | undefined): ReadonlySet<string> {
  if (!Array.isArray(input)) return new Set();
  const items: readonly Json[] = input;
  const own = new Set(objectsOf(items).flatMap((item) => (isReference(item) ? [] : (idOf(item) ?? []))));
  const named = new Set<string>();
  items.forEach((item, at) => {
    const id = isJsonObject(item) && isReference(item) ? idOf(item) : undefined;
    if (id === undefined) return;
    if (own.has(id)) throw invalid(`input[${at}].id`, 'refers to an item of this very input', 'invalid_prompt');
    named.add(id);
  });
  return named;
}

/** Clients may leave out the type of a reference, which has nothing but its id. */
function isReference(item: JsonObject): boolean {
  const { type } = item;
  if (type === 'item_reference') return true;
  return (type === undefined || type === null) && item['role'] === undefined && idOf(item) !== undefined;
}
