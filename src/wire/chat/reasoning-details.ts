import { REASONING_FAMILIES } from '../../canonical/blocks.ts';
import type { Block, OpaqueBlock, ReasoningBlock, ReasoningFamily } from '../../canonical/blocks.ts';
import type { JsonObject } from '../../lib/json.ts';
import { asExtra, fieldsOf, restOf, withExtra } from '../extra.ts';

const FAMILIES: ReadonlySet<string> = new Set(REASONING_FAMILIES);

/** `index` is not among them: it passes through, because it identifies the pieces of one block. */
const DETAIL_MEMBERS = {
  text: new Set(['type', 'text', 'signature', 'id', 'format']),
  summary: new Set(['type', 'summary', 'id', 'format']),
  encrypted: new Set(['type', 'data', 'id', 'format']),
} as const satisfies Record<ReasoningBlock['form'], ReadonlySet<string>>;

const FORM_OF_TYPE: ReadonlyMap<unknown, ReasoningBlock['form']> = new Map([
  ['reasoning.text', 'text'],
  ['reasoning.summary', 'summary'],
  ['reasoning.encrypted', 'encrypted'],
]);

/** The member of a detail that holds its main text. */
export const TEXT_MEMBER = { text: 'text', summary: 'summary', encrypted: 'data' } as const;

/**
 * Decodes one entry of `reasoning_details`, complete or a piece of one. An entry of an unknown kind (the record of a
 * server tool, a type yet to come) stays opaque, and so does one that is encrypted for an unknown vendor. Readable text is
 * decoded under any format (MiniMax has one of its own), whose name passes through. @spec chat-16
 */
export function decodeDetail(detail: JsonObject): ReasoningBlock | OpaqueBlock {
  const form = FORM_OF_TYPE.get(detail['type']);
  const { id, format, signature } = detail;
  const isKnown = isKnownFamily(format);
  if (form === undefined || (!isKnown && form === 'encrypted'))
    return { type: 'opaque', format: 'chat', value: detail };
  const text = detail[TEXT_MEMBER[form]];
  const signed = form === 'encrypted' || typeof signature === 'string';
  const family = isKnown ? familyOf(format, signed) : 'unknown';
  const rest = restOf(detail, DETAIL_MEMBERS[form]);
  return {
    type: 'reasoning',
    form,
    text: typeof text === 'string' ? text : '',
    carrier: 'reasoning_details',
    ...(typeof signature === 'string' && { signature }),
    ...(family !== undefined && { family }),
    ...(typeof id === 'string' && { id }),
    ...asExtra('chat', isKnown ? rest : { ...rest, format }),
  };
}

/** Encodes a whole block as an entry of `reasoning_details`; `undefined` for a block that it cannot express. */
export function encodeDetail(block: Block): JsonObject | undefined {
  if (block.type === 'opaque') return block.format === 'chat' ? block.value : undefined;
  if (block.type !== 'reasoning') return undefined;
  const { form, text, signature } = block;
  const own: JsonObject = {
    type: `reasoning.${form}`,
    // Also when it is empty: a signature without text is a legal block, and must come back (@spec reasoning-18).
    [TEXT_MEMBER[form]]: text,
    ...(signature !== undefined && { signature }),
    ...(block.id !== undefined && { id: block.id }),
    ...formatMember(block),
  };
  return withExtra(own, detailFields(block));
}

/** The vendor's format of the reasoning. A format that the gateway does not know stays as it came. */
export function formatMember(block: ReasoningBlock): JsonObject {
  const unknownFormat = detailFields(block)?.['format'];
  if (unknownFormat !== undefined) return { format: unknownFormat };
  return block.family === undefined ? {} : { format: block.family };
}

/** What rode along on the entry itself, not on the chunk around it. */
export function detailFields(block: ReasoningBlock): JsonObject | undefined {
  const fields = fieldsOf(block, 'chat');
  if (fields?.['choices'] === undefined) return fields;
  const { choices: _around, ...own } = fields;
  return own;
}

/** Position of the entry in the sequence, as the format numbered it. */
export function detailIndex(block: ReasoningBlock): number | undefined {
  const index = fieldsOf(block, 'chat')?.['index'];
  return typeof index === 'number' ? index : undefined;
}

function isKnownFamily(format: JsonObject[string]): format is ReasoningFamily | null | undefined {
  return format === null || format === undefined || (typeof format === 'string' && FAMILIES.has(format));
}

/** Absent on what only its maker can read: the assumed one. @spec chat-17 */
function familyOf(format: ReasoningFamily | null | undefined, signed: boolean): ReasoningFamily | undefined {
  if (format) return format;
  return signed && format === undefined ? 'anthropic-claude-v1' : undefined;
}
