import type { JsonObject } from '../../lib/json.ts';
import { textOf } from '../json-fields.ts';

/** Items of the responses format that stand for a conversation which their vendor shortened. */
const COMPACTIONS: ReadonlySet<unknown> = new Set(['compaction', 'context_compaction', 'compaction_summary']);
/** Of the items of the gateway's own tools, which are no provider's. */
const SERVICE_PREFIX = 'service:';

/** The encrypted history that an item stands for. */
export function compactionTextOf({ type, encrypted_content: encrypted }: JsonObject): string | undefined {
  return COMPACTIONS.has(type) ? textOf(encrypted) || undefined : undefined;
}

/** What tells an item of a tool that a provider ran from all others; `undefined`: it has no id. */
export function providerItemMark({ type, id }: JsonObject): string | undefined {
  if (typeof type !== 'string' || typeof id !== 'string' || type.startsWith(SERVICE_PREFIX)) return undefined;
  return id === '' || COMPACTIONS.has(type) ? undefined : `${type} ${id}`;
}
