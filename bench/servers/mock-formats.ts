import type { FormatId } from '../../src/canonical/extra.ts';
import { encodeMessage } from '../../tests/support/wire/aws-event-stream.ts';

/** A streamed answer in one format, frame by frame. */
export interface FormatFrames {
  /** Before the first content. */
  readonly opening: readonly Buffer[];
  readonly delta: (text: string) => Buffer;
  readonly closing: readonly Buffer[];
}

const MODEL = 'bench-2026-01-01';
const PROMPT_TOKENS = 42;

/** How an answer of so many text events looks in each format, as its vendor spells it. */
export const FRAMES_OF = {
  chat: chatFrames,
  messages: messagesFrames,
  gemini: geminiFrames,
  converse: converseFrames,
  responses: responsesFrames,
  cohere: cohereFrames,
} as const satisfies Readonly<Partial<Record<FormatId, (events: number) => FormatFrames>>>;

/** The formats that the mock upstream answers in. */
export type MockFormat = keyof typeof FRAMES_OF;

export function isMockFormat(format: FormatId): format is MockFormat {
  return Object.hasOwn(FRAMES_OF, format);
}

function data(value: object | string): Buffer {
  return Buffer.from(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`);
}

function named(type: string, value: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...value })}\n\n`);
}

function chatFrames(events: number): FormatFrames {
  const chunk = (delta: object, finishReason: string | null): object => ({
    id: 'chatcmpl-benchmark0000000000000000000000',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: MODEL,
    system_fingerprint: 'fp_bench',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
  });
  const usage = {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: events,
    total_tokens: PROMPT_TOKENS + events,
  };
  return {
    opening: [data(chunk({ role: 'assistant', content: '' }, null))],
    delta: (content) => data(chunk({ content }, null)),
    closing: [data(chunk({}, 'stop')), data({ ...chunk({}, null), choices: [], usage }), data('[DONE]')],
  };
}

function messagesFrames(events: number): FormatFrames {
  const message = {
    id: 'msg_benchmark00000000000000',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: PROMPT_TOKENS,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 1,
    },
  };
  const stop = { stop_reason: 'end_turn', stop_sequence: null };
  return {
    opening: [
      named('message_start', { message }),
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ],
    delta: (text) => named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    closing: [
      named('content_block_stop', { index: 0 }),
      named('message_delta', { delta: stop, usage: { output_tokens: events } }),
      named('message_stop', {}),
    ],
  };
}

function geminiFrames(events: number): FormatFrames {
  const chunk = (text: string, more: object): Buffer =>
    data({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
      usageMetadata: {
        promptTokenCount: PROMPT_TOKENS,
        candidatesTokenCount: events,
        totalTokenCount: PROMPT_TOKENS + events,
      },
      modelVersion: MODEL,
      responseId: 'benchmark000000000000',
    });
  return { opening: [], delta: (text) => chunk(text, {}), closing: [chunk('', { finishReason: 'STOP' })] };
}

function converseFrames(events: number): FormatFrames {
  const frame = (type: string, payload: object): Buffer =>
    encodeMessage(
      { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
      JSON.stringify({ ...payload, p: 'abcdefghij' }),
    );
  const usage = { inputTokens: PROMPT_TOKENS, outputTokens: events, totalTokens: PROMPT_TOKENS + events };
  return {
    opening: [frame('messageStart', { role: 'assistant' })],
    delta: (text) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    closing: [
      frame('contentBlockStop', { contentBlockIndex: 0 }),
      frame('messageStop', { stopReason: 'end_turn' }),
      frame('metadata', { usage, metrics: { latencyMs: 800 } }),
    ],
  };
}

function responsesFrames(events: number): FormatFrames {
  const item = 'msg_benchmark0000000000000000000000000000';
  const response = { id: 'resp_benchmark00000000', object: 'response', created_at: 1_760_000_000, model: MODEL };
  const part = { type: 'output_text', text: '', annotations: [] };
  const message = { id: item, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const place = { item_id: item, output_index: 0, content_index: 0 };
  let ordinal = 0;
  const next = (type: string, value: object): Buffer => named(type, { sequence_number: ordinal++, ...value });
  const usage = {
    input_tokens: PROMPT_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: events,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: PROMPT_TOKENS + events,
  };
  return {
    opening: [
      next('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      next('response.output_item.added', { output_index: 0, item: message }),
      next('response.content_part.added', { ...place, part }),
    ],
    delta: (delta) => next('response.output_text.delta', { ...place, delta, logprobs: [], obfuscation: 'abcdef' }),
    // What an upstream says again at the end is left out: the text has come.
    closing: [
      next('response.output_item.done', { output_index: 0, item: { ...message, status: 'completed' } }),
      next('response.completed', { response: { ...response, status: 'completed', output: [], usage } }),
    ],
  };
}

function cohereFrames(events: number): FormatFrames {
  const tokens = { input_tokens: PROMPT_TOKENS, output_tokens: events };
  const content = (value: object): object => ({ message: { content: value } });
  const end = { finish_reason: 'COMPLETE', usage: { billed_units: tokens, tokens } };
  return {
    opening: [
      named('message-start', {
        id: 'benchmark',
        delta: { message: { role: 'assistant', content: [], citations: [] } },
      }),
      named('content-start', { index: 0, delta: content({ type: 'text', text: '' }) }),
    ],
    delta: (text) => named('content-delta', { index: 0, delta: content({ text }) }),
    closing: [named('content-end', { index: 0 }), named('message-end', { delta: end }), data('[DONE]')],
  };
}
