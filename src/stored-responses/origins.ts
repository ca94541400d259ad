import type { JsonObject } from '../lib/json.ts';
import type { ResponseOwner } from '../state/contract.ts';
import { textOf } from '../wire/json-fields.ts';
import { idOf, type TurnItems } from './items.ts';

/** Which provider made an encrypted text. It is forgotten after a day, and with its process. */
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
    const encrypted = textOf(item['encrypted_content']);
    const provider = id && encrypted ? known.originOf(owner, encrypted) : undefined;
    if (id !== undefined && provider !== undefined) origins[id] = provider;
  }
  return Object.keys(origins).length === 0 ? undefined : origins;
}

/** So that the items of a kept response go back to where they can be opened, however old it is. */
export function learnOrigins({ input, output, origins }: TurnItems, owner: OriginScope, known: KnownOrigins): void {
  if (origins === undefined) return;
  for (const item of [...input, ...output]) {
    const provider = textOf(origins[idOf(item) ?? '']);
    const encrypted = textOf(item['encrypted_content']);
    if (provider !== undefined && encrypted) known.learn(owner, encrypted, provider);
  }
}
