import type { MediaBlock, OpaqueBlock } from '../../../canonical/blocks.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { COMPACTION_TRIGGER } from '../../compaction-request.ts';
import { fieldsOf } from '../../extra.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import type { ResponsesDialect } from '../dialect.ts';
import { isOwnMcpCall } from '../server-tools.ts';

/** Items of the gateway's own tools, which no upstream knows. */
const SERVICE_PREFIX = 'service:';
/** Items that stand for a conversation which was shortened, and the one that asks for it. */
const COMPACTIONS: ReadonlySet<string> = new Set([
  'compaction',
  'context_compaction',
  'compaction_summary',
  COMPACTION_TRIGGER,
]);

/** Whether the upstream may be sent an item that only its format knows. */
export function takesItem({ format, value }: OpaqueBlock, { openTools, compaction }: ResponsesDialect): boolean {
  const type = textOf(value['type']) ?? '';
  if (format !== 'responses' || type.startsWith(SERVICE_PREFIX) || isOwnMcpCall(value)) return false;
  return COMPACTIONS.has(type) ? compaction === true : openTools === true;
}

/** The item of an image that the model made, for an upstream that makes such. */
export function imageItemOf(block: MediaBlock, { imageTool }: ResponsesDialect): JsonObject | undefined {
  const item = objectOf(fieldsOf(block, 'responses')?.['image_generation_call']);
  const { source } = block;
  if (imageTool !== true || item === undefined || source.type !== 'base64') return undefined;
  return { type: 'image_generation_call', ...item, result: source.data };
}
