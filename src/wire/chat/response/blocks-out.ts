import type { Block, MediaBlock, ReasoningBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { BlockDeltaEvent } from '../../../canonical/events.ts';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { encodeAudio, encodeImage } from '../assistant-media.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { CustomCallDeltas } from './custom-calls.ts';
import { detailFields, encodeDetail, formatMember, TEXT_MEMBER } from '../reasoning-details.ts';

/** How the pieces of one block are written: each as the JSON text of a `delta`, `undefined` for none. */
export interface BlockWriter {
  readonly isText: boolean;
  /** The form of readable reasoning. */
  readonly thinks: ReasoningBlock['form'] | undefined;
  /** Where the block's text begins in the text of the response, in characters. */
  readonly textStart: number;
  readonly start: string | undefined;
  /** @param fields this format's passthrough fields of the piece */
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
  /** Calls are written as `function_call`, the first alone. */
  readonly legacyCalls: true | undefined;
  /** A call is of a tool whose input is a text. */
  readonly isCustom: boolean;
}

/** A block that this format cannot express: tools that the upstream ran, and blocks that only another format knows. */
const SILENT: BlockWriter = { isText: false, thinks: undefined, textStart: 0, start: undefined, more: () => undefined };

export function openBlockWriter(block: Block, counts: Counts): BlockWriter {
  switch (block.type) {
    case 'text':
      return textWriter('content', block.text, counts);
    case 'refusal':
      return textWriter('refusal', block.text, undefined);
    case 'reasoning':
      return reasoningWriter(block, counts);
    case 'tool-call':
      return block.runBy === 'caller' ? callWriter(block, counts) : SILENT;
    case 'media':
      return block.media === 'audio' ? audioWriter(block) : imageWriter(block);
    case 'opaque': {
      const detail = encodeDetail(block);
      return detail === undefined ? SILENT : { ...SILENT, start: encodeDetails(detail) };
    }
    case 'tool-result':
      return SILENT;
    default:
      return unreachable(block);
  }
}

/** @param counts of a text of the response; a refusal is none */
function textWriter(member: 'content' | 'refusal', text: string, counts: Counts | undefined): BlockWriter {
  const before = `{"${member}":`;
  let gap = counts?.gap ?? '';
  const encode = (piece: string): string => {
    const quoted = JSON.stringify(gap === '' ? piece : gap + piece);
    gap = '';
    return `${before}${quoted}}`;
  };
  return {
    isText: counts !== undefined,
    thinks: undefined,
    textStart: counts?.text ?? 0,
    start: text === '' ? undefined : encode(text),
    more: (event, fields) => (event.text || fields !== undefined ? encode(event.text ?? '') : undefined),
  };
}

/**
 * Only the first piece of a call names it. A call that got no arguments gets the empty object, because clients parse
 * what they have at the end. @spec stream-16
 */
function callWriter(block: ToolCallBlock, { call: index, legacyCalls, isCustom }: Counts): BlockWriter {
  if (legacyCalls === true) return index === 0 ? functionCallWriter(block) : SILENT;
  if (isCustom) return customCallWriter(block, index);
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

function customCallWriter(block: ToolCallBlock, index: number): BlockWriter {
  const deltas = new CustomCallDeltas(block, index);
  return { ...SILENT, start: deltas.start, more: ({ text }) => deltas.more(text), end: () => deltas.end() };
}

/** The same before calls had ids: passthrough fields of an entry of `tool_calls` have no place here. */
function functionCallWriter({ name, input }: ToolCallBlock): BlockWriter {
  let isEmpty = input === '';
  const more = (text: string): string => `{"function_call":{"arguments":${JSON.stringify(text)}}}`;
  return {
    ...SILENT,
    start: JSON.stringify({ function_call: { name, arguments: input } }),
    more({ text }) {
      if (text) isEmpty = false;
      return text ? more(text) : undefined;
    },
    end: () => (isEmpty ? more('{}') : undefined),
  };
}

/** Readable reasoning is written twice: as plain text, and as a piece of the detail that shares its index. */
function reasoningWriter(block: ReasoningBlock, { detail: position, gap }: Counts): BlockWriter {
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
    const stated = isFirst && gap !== '' ? JSON.stringify(gap + piece) : quoted;
    isFirst = false;
    return `"reasoning":${stated},`;
  };
  const encode = (piece: string): string => {
    const quoted = JSON.stringify(piece);
    return `{${plain(piece, quoted)}${before},"${member}":${quoted},${after}`;
  };
  const sign = (piece: string): string => `{${before},"signature":${JSON.stringify(piece)},${after}`;
  const open = (): string | undefined => {
    if (signature === undefined) return text === '' ? undefined : encode(text);
    const detail = { ...encodeDetail(block), ...shared, index };
    return `{${plain(text, JSON.stringify(text))}"reasoning_details":[${JSON.stringify(detail)}]}`;
  };
  return {
    ...SILENT,
    thinks: form === 'encrypted' ? undefined : form,
    start: open(),
    more(event) {
      if (event.signature !== undefined) return sign(event.signature);
      return event.text ? encode(event.text) : undefined;
    },
  };
}

function identify(block: ReasoningBlock): JsonObject {
  return { ...formatMember(block), ...(block.id !== undefined && { id: block.id }) };
}

/** A picture is one entry, so it is written when it is complete. */
function imageWriter(block: MediaBlock): BlockWriter {
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

function audioWriter(block: MediaBlock): BlockWriter {
  const first = encodeAudio(block);
  const isEmpty = Object.values(first).every((value) => value === '');
  return {
    ...SILENT,
    start: isEmpty ? undefined : JSON.stringify({ audio: first }),
    more({ text }, fields) {
      const { transcript, ...reported } = isJsonObject(fields?.['audio']) ? fields['audio'] : {};
      const audio = {
        ...reported,
        ...(text && { data: text }),
        ...(Array.isArray(transcript) && { transcript: transcript.join('') }),
      };
      return Object.keys(audio).length === 0 ? undefined : JSON.stringify({ audio });
    },
  };
}

function encodeDetails(detail: JsonObject): string {
  return JSON.stringify({ reasoning_details: [detail] });
}

/** The passthrough fields that stood on the entry itself. */
function ownFields(fields: JsonObject | undefined): JsonObject | undefined {
  if (fields?.['choices'] === undefined) return fields;
  const { choices: _around, ...own } = fields;
  return Object.keys(own).length === 0 ? undefined : own;
}
