import type { ReasoningBlock } from '../../../canonical/blocks.ts';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Dialect } from '../../format.ts';

/** An item of reasoning that is being put together again from its blocks. */
export interface ReasoningItem {
  readonly id: string | undefined;
  /** Where its first block stood. */
  readonly path: string;
  readonly summary: JsonObject[];
  readonly content: JsonObject[];
  encrypted: string | undefined;
}

/**
 * Families of unsigned readable reasoning: without a seal it is taken for that of the messages format's own vendor.
 */
const UNSIGNED_FAMILIES: ReadonlySet<string> = new Set(['unknown', 'anthropic-claude-v1']);

/** Whether the upstream may be sent a block of reasoning. @spec reasoning-16 */
export function takesReasoning(
  { family, form, signature }: ReasoningBlock,
  dialect: Dialect,
  caller: ClientFormatId,
): boolean {
  // Clients of the format forget which vendor made an item: where it was made is remembered elsewhere.
  const isUnsigned = signature === undefined || signature === '';
  if (caller === 'responses' && isUnsigned && (family === undefined || family === 'unknown')) return true;
  if (family === (dialect.reasoningFamily ?? 'openai-responses-v1')) return true;
  const isReadable = form !== 'encrypted' && isUnsigned;
  return dialect.reasoningText === true && isReadable && UNSIGNED_FAMILIES.has(family ?? 'unknown');
}

/**
 * Adds a block to the item that it was cut from: blocks of one item share its id. Without ids, as some clients send them
 * back, an item ends with its encrypted form. @param items of the turn so far @returns the item if it is new
 */
export function addReasoning(
  items: readonly ReasoningItem[],
  block: ReasoningBlock,
  path: string,
): ReasoningItem | undefined {
  const known = findItem(items, block.id);
  const item = known ?? { id: block.id, path, summary: [], content: [], encrypted: undefined };
  if (block.form === 'encrypted') item.encrypted = block.text;
  else if (block.form === 'summary') item.summary.push({ type: 'summary_text', text: block.text });
  else item.content.push({ type: 'reasoning_text', text: block.text });
  return known === undefined ? item : undefined;
}

function findItem(items: readonly ReasoningItem[], id: string | undefined): ReasoningItem | undefined {
  if (id !== undefined) return items.find((item) => item.id === id);
  const last = items.at(-1);
  return last?.id === undefined && last?.encrypted === undefined ? last : undefined;
}

/**
 * An item that the upstream can read: encrypted, or by a host that reads plain reasoning. The vendor looks up all others
 * in its store, where nothing is kept. The id goes back unchanged or not at all, because the encrypted form is bound to
 * it: "Encrypted content item_id did not match the target item id" (maximhq/bifrost#5186, 2026-07).
 */
export function encodeReasoning(
  { id, summary, content, encrypted }: ReasoningItem,
  dialect: Dialect,
  caller: ClientFormatId,
): JsonObject | undefined {
  const isOwn = caller === 'responses';
  const readsText = dialect.reasoningText === true;
  // A summary alone goes back to the format that it came in.
  if (encrypted === undefined && !readsText && !(isOwn && summary.length > 0)) return undefined;
  const members: Record<string, Json> = { type: 'reasoning' };
  if (id !== undefined && !(isOwn && encrypted === undefined)) members['id'] = id;
  members['summary'] = summary;
  if (content.length > 0 && (readsText || !isOwn)) members['content'] = content;
  if (encrypted !== undefined) members['encrypted_content'] = encrypted;
  return members;
}
