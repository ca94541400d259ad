import type { JsonObject } from '../lib/json.ts';
import type { ResponseOwner } from '../state/contract.ts';
import { textOf } from '../wire/json-fields.ts';
import { providerItemMark } from '../wire/responses/provider-items.ts';
import { idOf, type TurnItems } from './items.ts';

/** Which provider made an encrypted text, or ran the tool of an item. It is forgotten after a day, and with its process. */
export interface KnownOrigins {
  /** Slug; `undefined`: not known. */
  originOf(owner: OriginScope, encrypted: string): string | undefined;
  learn(owner: OriginScope, encrypted: string, provider: string): void;
}

type OriginScope = Pick<ResponseOwner, 'accountId' | 'workspaceId'>;

/** What is known of the items of a response, to be kept with it; `undefined`: nothing. */
export function originsOf(
  { input, output }: TurnItems,
  owner: OriginScope,
  known: KnownOrigins,
): JsonObject | undefined {
  const origins: Record<string, string> = {};
  for (const item of [...input, ...output]) {
    const id = idOf(item);
    const mark = markOf(item);
    const provider = id && mark ? known.originOf(owner, mark) : undefined;
    if (id !== undefined && provider !== undefined) origins[id] = provider;
  }
  return Object.keys(origins).length === 0 ? undefined : origins;
}

/** So that the items of a kept response go back to where they can be opened, however old it is. */
export function learnOrigins({ input, output, origins }: TurnItems, owner: OriginScope, known: KnownOrigins): void {
  if (origins === undefined) return;
  for (const item of [...input, ...output]) {
    const provider = textOf(origins[idOf(item) ?? '']);
    const mark = markOf(item);
    if (provider !== undefined && mark) known.learn(owner, mark, provider);
  }
}

/** By what its origin is known: what it encrypts, or itself. */
function markOf(item: JsonObject): string | undefined {
  return textOf(item['encrypted_content']) ?? providerItemMark(item);
}
