import type { ClientFormatId } from '../../src/canonical/extra.ts';
import { FRAMES_OF, type MockFormat } from './mock-formats.ts';

/**
 * A precomputed answer: the byte strings to write, one socket write each; the first holds the response head.
 * `gapMs` is the pause between two writes of a paced stream; without it the writes follow each other at once.
 */
export interface MockScript {
  readonly writes: readonly Buffer[];
  readonly gapMs?: number;
  /** SSE frames in the whole stream; 0 for a whole answer. */
  readonly frames: number;
  /** The text that the answer spells, for the check before measuring. */
  readonly text: string;
}

/** Bytes of one content frame, `data: ` and the blank line included. */
export const EVENT_BYTES = 266;
const WHOLE_BYTES = 650;
const EVENTS_MAX = 10_000;
const TEXT_FILLER = ' the quick brown fox jumps over the lazy dog and looks back at the same old fence';

/**
 * Chooses the answer by the model name: `whole`, `burst-<events a write>x<events>`, `paced-<gap ms>x<events>`.
 * Undefined when the name is none of these.
 */
export function writeScript(format: MockFormat, model: string): MockScript | undefined {
  if (model === 'whole') return isWholeFormat(format) ? writeWhole(format) : undefined;
  const [, mode, first, second] = /^(burst|paced)-(\d{1,5})x(\d{1,5})$/.exec(model) ?? [];
  const events = Number(second);
  const step = Number(first);
  if (mode === undefined || step < 1 || events < 1 || events > EVENTS_MAX) return undefined;
  const { frames, text, opening } = writeFrames(format, events);
  // A paced stream opens with its first content: holding back the frames before it until then loses nothing.
  const writes =
    mode === 'burst' ? writeChunks(format, frames, step, step) : writeChunks(format, frames, opening + 1, 1);
  return { writes, frames: frames.length, text, ...(mode === 'paced' && { gapMs: step }) };
}

/** Text of exactly `bytes` characters with its ordinal, so that a lost or repeated event is noticed. */
function writeText(ordinal: number, bytes: number): string {
  const head = ` w${ordinal}`;
  return (head + TEXT_FILLER.repeat(Math.ceil(bytes / TEXT_FILLER.length))).slice(0, Math.max(head.length, bytes));
}

/** Whole answers, of which each format of callers has one. */
const WHOLE_OF: Readonly<Record<ClientFormatId, (text: string) => object>> = {
  chat: chatWhole,
  messages: messagesWhole,
  responses: responsesWhole,
};

function isWholeFormat(format: MockFormat): format is ClientFormatId {
  return Object.hasOwn(WHOLE_OF, format);
}

function writeWhole(format: ClientFormatId): MockScript {
  const body = (text: string): string => JSON.stringify(WHOLE_OF[format](text));
  const text = writeText(0, WHOLE_BYTES - body('').length);
  const payload = body(text);
  const head = writeHead('application/json', `content-length: ${Buffer.byteLength(payload)}`);
  return { writes: [Buffer.from(head + payload)], frames: 0, text };
}

function chatWhole(content: string): object {
  return {
    id: 'chatcmpl-benchmark0000000000000000000000',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'bench-2026-01-01',
    choices: [{ index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' }],
    usage: {
      prompt_tokens: 42,
      completion_tokens: 64,
      total_tokens: 106,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    system_fingerprint: 'fp_benchmark',
  };
}

function messagesWhole(text: string): object {
  return {
    id: 'msg_benchmark00000000000000',
    type: 'message',
    role: 'assistant',
    model: 'bench-2026-01-01',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 42, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 64 },
  };
}

function responsesWhole(text: string): object {
  const part = { type: 'output_text', text, annotations: [] };
  return {
    id: 'resp_benchmark00000000',
    object: 'response',
    created_at: 1_760_000_000,
    status: 'completed',
    model: 'bench-2026-01-01',
    output: [{ id: 'msg_benchmark00000', type: 'message', role: 'assistant', status: 'completed', content: [part] }],
    usage: {
      input_tokens: 42,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 64,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 106,
    },
  };
}

interface Frames {
  readonly frames: readonly Buffer[];
  /** Frames before the first content. */
  readonly opening: number;
  readonly text: string;
}

function writeFrames(format: MockFormat, events: number): Frames {
  const { opening, delta, closing } = FRAMES_OF[format](events);
  const textBytes = EVENT_BYTES - delta('').length;
  const texts = Array.from({ length: events }, (_, ordinal) => writeText(ordinal, textBytes));
  return { frames: [...opening, ...texts.map(delta), ...closing], opening: opening.length, text: texts.join('') };
}

/** One HTTP chunk, and one write, for each group of frames; the head rides on the first, the closing chunk on the last. */
function writeChunks(
  format: MockFormat,
  frames: readonly Buffer[],
  framesInFirst: number,
  framesInOthers: number,
): readonly Buffer[] {
  const chunks: Buffer[] = [];
  for (let first = 0; first < frames.length;) {
    const count = first === 0 ? framesInFirst : framesInOthers;
    const data = Buffer.concat(frames.slice(first, first + count));
    chunks.push(Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]));
    first += count;
  }
  const type = format === 'converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream; charset=utf-8';
  const head = Buffer.from(writeHead(type, 'transfer-encoding: chunked'));
  const end = Buffer.from('0\r\n\r\n');
  return chunks.map((chunk, index) =>
    Buffer.concat([...(index === 0 ? [head] : []), chunk, ...(index === chunks.length - 1 ? [end] : [])]),
  );
}

/** About as many headers as a provider sends: a proxy has to parse them. */
function writeHead(contentType: string, framing: string): string {
  const lines = [
    'HTTP/1.1 200 OK',
    'date: Thu, 01 Jan 2026 00:00:00 GMT',
    `content-type: ${contentType}`,
    'cache-control: no-cache',
    'server: mock-upstream',
    'x-request-id: req_benchmark000000000000',
    'x-ratelimit-limit-requests: 100000',
    'x-ratelimit-remaining-requests: 99999',
    'strict-transport-security: max-age=15552000; includeSubDomains',
    framing,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
