import type { Block, MediaBlock, ReasoningBlock, ToolCallBlock } from '../../canonical/blocks.ts';
import type { BlockDeltaEvent } from '../../canonical/events.ts';
import { unreachable } from '../../lib/assert.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { encodeAudio, encodeImage } from './answer-media.ts';
import { fieldsOf, withExtra } from '../extra.ts';
import { detailFields, encodeDetail, formatMember, TEXT_MEMBER } from './reasoning-details.ts';

/** How the pieces of one block are written: each as the JSON text of a `delta`, `undefined` for none. */
export interface Slot {
  readonly isText: boolean;
  /** The form of reasoning that anybody can read. */
  readonly thinks: ReasoningBlock['form'] | undefined;
  /** Where the block's text begins in the text of the answer, in characters. */
  readonly textStart: number;
  readonly start: string | undefined;
  /** @param fields what this format brought along with the piece */
  more(event: BlockDeltaEvent, fields: JsonObject | undefined): string | undefined;
  end?(): string | undefined;
}

/** How much has been opened before. */
export interface Counts {
  readonly call: number;
  readonly detail: number;
  readonly text: number;
  /** What stands between the text, or the reasoning, before and this one. */
  readonly gap: string;
}

/** A block that this format cannot say: tools that the upstream ran, and what only another format knows. */
const SILENT: Slot = { isText: false, thinks: undefined, textStart: 0, start: undefined, more: () => undefined };

export function openSlot(block: Block, counts: Counts): Slot {
  switch (block.type) {
    case 'text':
      return textSlot('content', block.text, counts);
    case 'refusal':
      return textSlot('refusal', block.text, undefined);
    case 'reasoning':
      return reasoningSlot(block, counts);
    case 'tool-call':
      return block.runBy === 'caller' ? callSlot(block, counts.call) : SILENT;
    case 'media':
      return block.media === 'audio' ? audioSlot(block) : imageSlot(block);
    case 'opaque': {
      const detail = encodeDetail(block);
      return detail === undefined ? SILENT : { ...SILENT, start: drawDetails(detail) };
    }
    case 'tool-result':
      return SILENT;
    default:
      return unreachable(block);
  }
}

/** @param counts of a text of the answer; a refusal is none */
function textSlot(member: 'content' | 'refusal', text: string, counts: Counts | undefined): Slot {
  const before = `{"${member}":`;
  let gap = counts?.gap ?? '';
  const draw = (piece: string): string => {
    const quoted = JSON.stringify(gap === '' ? piece : gap + piece);
    gap = '';
    return `${before}${quoted}}`;
  };
  return {
    isText: counts !== undefined,
    thinks: undefined,
    textStart: counts?.text ?? 0,
    start: text === '' ? undefined : draw(text),
    more: (event, fields) => (event.text || fields !== undefined ? draw(event.text ?? '') : undefined),
  };
}

/**
 * Only the first piece of a call names it. A call that got no arguments gets the empty object, because clients parse
 * what they have at the end. @source generation.md 6.3
 */
function callSlot(block: ToolCallBlock, index: number): Slot {
  const { id, name, input } = block;
  let isEmpty = input === '';
  const first = { index, id, type: 'function', function: { name, arguments: input } };
  const before = `{"tool_calls":[{"index":${index},"function":{"arguments":`;
  return {
    ...SILENT,
    start: `{"tool_calls":[${JSON.stringify(withExtra(first, ownFields(fieldsOf(block, 'chat'))))}]}`,
    more({ text }, fields) {
      const own = ownFields(fields);
      if (text) isEmpty = false;
      if (own !== undefined)
        return JSON.stringify({ tool_calls: [withExtra({ index, function: { arguments: text ?? '' } }, own)] });
      return text ? `${before}${JSON.stringify(text)}}}]}` : undefined;
    },
    end: () => (isEmpty ? `${before}"{}"}}]}` : undefined),
  };
}

/** Readable reasoning is told twice: in plain, and as a piece of the detail that shares its index. */
function reasoningSlot(block: ReasoningBlock, { detail: position, gap }: Counts): Slot {
  const { form, text, signature } = block;
  const shared = withExtra({ index: position, format: 'unknown', ...identify(block) }, detailFields(block));
  const index = detailFields(block)?.['index'] ?? position;
  const member = TEXT_MEMBER[form];
  const after = `${JSON.stringify({ ...shared, index }).slice(1, -1)}}]}`;
  const before = `"reasoning_details":[{"type":"reasoning.${form}"`;
  let isFirst = true;
  // Only the plain member runs several blocks together.
  const plain = (piece: string, quoted: string): string => {
    if (form === 'encrypted' || piece === '') return '';
    const said = isFirst && gap !== '' ? JSON.stringify(gap + piece) : quoted;
    isFirst = false;
    return `"reasoning":${said},`;
  };
  const draw = (piece: string): string => {
    const quoted = JSON.stringify(piece);
    return `{${plain(piece, quoted)}${before},"${member}":${quoted},${after}`;
  };
  const sign = (piece: string): string => `{${before},"signature":${JSON.stringify(piece)},${after}`;
  const open = (): string | undefined => {
    if (signature === undefined) return text === '' ? undefined : draw(text);
    const detail = { ...encodeDetail(block), ...shared, index };
    return `{${plain(text, JSON.stringify(text))}"reasoning_details":[${JSON.stringify(detail)}]}`;
  };
  return {
    ...SILENT,
    thinks: form === 'encrypted' ? undefined : form,
    start: open(),
    more(event) {
      if (event.signature !== undefined) return sign(event.signature);
      return event.text ? draw(event.text) : undefined;
    },
  };
}

function identify(block: ReasoningBlock): JsonObject {
  return { ...formatMember(block), ...(block.id !== undefined && { id: block.id }) };
}

/** A picture is one entry, so it is written when it is complete. */
function imageSlot(block: MediaBlock): Slot {
  const pieces: string[] = [];
  return {
    ...SILENT,
    more(event) {
      if (event.text) pieces.push(event.text);
      return undefined;
    },
    end() {
      const { source } = block;
      const whole =
        source.type === 'base64' && pieces.length > 0
          ? { ...block, source: { ...source, data: source.data + pieces.join('') } }
          : block;
      const image = encodeImage(whole);
      return image && `{"images":[${JSON.stringify(image)}]}`;
    },
  };
}

function audioSlot(block: MediaBlock): Slot {
  const first = encodeAudio(block);
  const isEmpty = Object.values(first).every((value) => value === '');
  return {
    ...SILENT,
    start: isEmpty ? undefined : JSON.stringify({ audio: first }),
    more({ text }, fields) {
      const { transcript, ...told } = isJsonObject(fields?.['audio']) ? fields['audio'] : {};
      const audio = {
        ...told,
        ...(text && { data: text }),
        ...(Array.isArray(transcript) && { transcript: transcript.join('') }),
      };
      return Object.keys(audio).length === 0 ? undefined : JSON.stringify({ audio });
    },
  };
}

function drawDetails(detail: JsonObject): string {
  return JSON.stringify({ reasoning_details: [detail] });
}

/** Of what was brought along, the part that stood on the entry itself. */
function ownFields(fields: JsonObject | undefined): JsonObject | undefined {
  if (fields?.['choices'] === undefined) return fields;
  const { choices: _around, ...own } = fields;
  return Object.keys(own).length === 0 ? undefined : own;
}
