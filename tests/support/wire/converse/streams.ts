import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import type { JsonObject } from '../../../../src/lib/json.ts';
import { encodeMessage } from '../aws-event-stream.ts';
import type { Dialect } from '../../../../src/wire/format.ts';
import { ConverseStreamDecoder } from '../../../../src/wire/converse/response/stream.ts';

/** Test support: one event of a stream, `[type, payload]`; a type that ends in `Exception` is an exception. */
export type StreamEvent = readonly [type: string, payload: JsonObject | string];

/** Test support: the frames of a stream as the service sends them, with the padding that it adds to every event. */
export function stream(...events: readonly StreamEvent[]): Buffer {
  return Buffer.concat(events.map(frame));
}

function frame([type, payload]: StreamEvent, at: number): Buffer {
  const exception = type.endsWith('Exception');
  return encodeMessage(
    {
      [exception ? ':exception-type' : ':event-type']: type,
      ':content-type': 'application/json',
      ':message-type': exception ? 'exception' : 'event',
    },
    typeof payload === 'string' ? payload : JSON.stringify({ ...payload, p: 'abcdefgh'.slice(0, at % 8) }),
  );
}

/** Test support: all events of a stream that comes in these pieces and then ends. */
export function readPieces(pieces: readonly Uint8Array[], dialect?: Dialect): EventBatch {
  const decoder = new ConverseStreamDecoder(dialect);
  const events: GenerationEvent[] = [];
  for (const piece of pieces) events.push(...decoder.push(piece));
  events.push(...decoder.end());
  return events;
}

export function delta(contentBlockIndex: number, value: JsonObject): StreamEvent {
  return ['contentBlockDelta', { contentBlockIndex, delta: value }];
}

export function start(contentBlockIndex: number, value: JsonObject): StreamEvent {
  return ['contentBlockStart', { contentBlockIndex, start: value }];
}

export function stop(contentBlockIndex: number): StreamEvent {
  return ['contentBlockStop', { contentBlockIndex }];
}

export const MESSAGE_START: StreamEvent = ['messageStart', { role: 'assistant' }];

export function messageStop(stopReason: string, more: JsonObject = {}): StreamEvent {
  return ['messageStop', { stopReason, ...more }];
}

export const USAGE = { inputTokens: 12, outputTokens: 7, totalTokens: 19 };

export function metadata(more: JsonObject = {}): StreamEvent {
  return ['metadata', { usage: USAGE, metrics: { latencyMs: 800 }, ...more }];
}

/** Test support: the events of an answer, and the same answer as it would come whole. */
export interface OwnStream {
  readonly events: readonly StreamEvent[];
  readonly whole: JsonObject;
}

function whole(content: readonly JsonObject[], stopReason: string, more: JsonObject = {}): JsonObject {
  return {
    output: { message: { role: 'assistant', content } },
    stopReason,
    usage: USAGE,
    metrics: { latencyMs: 800 },
    ...more,
  };
}

export const THINKING_STREAM: OwnStream = {
  events: [
    MESSAGE_START,
    delta(0, { reasoningContent: { text: 'Über ' } }),
    delta(0, { reasoningContent: { text: 'Köln 🌦' } }),
    delta(0, { reasoningContent: { signature: 'ErUBCkYIBBgC' } }),
    stop(0),
    delta(1, { reasoningContent: { redactedContent: 'RXBBSENvWUI=' } }),
    stop(1),
    delta(2, { text: 'Ich sehe ' }),
    delta(2, { text: 'nach: ' }),
    stop(2),
    start(3, { toolUse: { toolUseId: 'tooluse_a1', name: 'get_weather' } }),
    delta(3, { toolUse: { input: '' } }),
    delta(3, { toolUse: { input: '{"city":' } }),
    delta(3, { toolUse: { input: '"Köln"}' } }),
    stop(3),
    messageStop('tool_use'),
    metadata({ usage: { ...USAGE, cacheReadInputTokens: 5, cacheReadInputTokenCount: 5, cacheWriteInputTokens: 3 } }),
  ],
  whole: whole(
    [
      { reasoningContent: { reasoningText: { text: 'Über Köln 🌦', signature: 'ErUBCkYIBBgC' } } },
      { reasoningContent: { redactedContent: 'RXBBSENvWUI=' } },
      { text: 'Ich sehe nach: ' },
      { toolUse: { toolUseId: 'tooluse_a1', name: 'get_weather', input: { city: 'Köln' } } },
    ],
    'tool_use',
    { usage: { ...USAGE, cacheReadInputTokens: 5, cacheReadInputTokenCount: 5, cacheWriteInputTokens: 3 } },
  ),
};

/** Two calls whose pieces take turns, and one without arguments. */
export const PARALLEL_STREAM: OwnStream = {
  events: [
    MESSAGE_START,
    delta(0, { text: '' }),
    stop(0),
    start(1, { toolUse: { toolUseId: 'a', name: 'f' } }),
    start(2, { toolUse: { toolUseId: 'b', name: 'g' } }),
    delta(1, { toolUse: { input: '{"x"' } }),
    delta(2, { toolUse: { input: '{"y":2' } }),
    delta(1, { toolUse: { input: ':1}' } }),
    stop(1),
    delta(2, { toolUse: { input: '}' } }),
    stop(2),
    start(3, { toolUse: { toolUseId: 'c', name: 'h' } }),
    stop(3),
    messageStop('tool_use'),
    metadata({ serviceTier: { type: 'priority' } }),
  ],
  whole: whole(
    [
      { text: '' },
      { toolUse: { toolUseId: 'a', name: 'f', input: { x: 1 } } },
      { toolUse: { toolUseId: 'b', name: 'g', input: { y: 2 } } },
      { toolUse: { toolUseId: 'c', name: 'h', input: {} } },
    ],
    'tool_use',
    { serviceTier: { type: 'priority' } },
  ),
};

const CITATION: JsonObject = {
  title: 'facts',
  sourceContent: [{ text: 'Ruby is from 1993.' }],
  location: { documentChar: { documentIndex: 0, start: 3, end: 21 } },
};
const TRACE: JsonObject = { guardrail: { actionReason: 'No action.' } };

export const CITED_STREAM: OwnStream = {
  events: [
    MESSAGE_START,
    delta(0, { text: 'Well: ' }),
    stop(0),
    delta(1, { citation: CITATION }),
    delta(1, { text: 'it is ' }),
    delta(1, { text: 'from 1993' }),
    stop(1),
    messageStop('stop_sequence', { additionalModelResponseFields: { delta: { stop_sequence: '.' } } }),
    metadata({ trace: TRACE }),
  ],
  whole: whole(
    [{ text: 'Well: ' }, { citationsContent: { content: [{ text: 'it is from 1993' }], citations: [CITATION] } }],
    'stop_sequence',
    { additionalModelResponseFields: { stop_sequence: '.' }, trace: TRACE },
  ),
};
