import type { GenerationResponse } from '../../../../src/canonical/response.ts';
import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import { foldEvents } from '../../../../src/canonical/fold.ts';
import { checkEvents } from '../event-grammar.ts';
import type { JsonObject } from '../../../../src/lib/json.ts';
import { textOf } from '../../../../src/wire/json-fields.ts';
import { createStreamDecoder } from '../../../../src/wire/cohere/response/stream.ts';

/** Test support: events of a stream, in the wire's own words. */
export const START: JsonObject = {
  id: 'c14c80c3-18eb-4519-9460-6c92edd8cfb4',
  type: 'message-start',
  delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
};

export function content(index: number, piece: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'content-delta', index, delta: { message: { content: piece } }, ...more };
}

export function contentStart(index: number, type: 'text' | 'thinking'): JsonObject {
  return { type: 'content-start', index, delta: { message: { content: { type, [type]: '' } } } };
}

export function contentEnd(index: number): JsonObject {
  return { type: 'content-end', index };
}

export function plan(text: string): JsonObject {
  return { type: 'tool-plan-delta', delta: { message: { tool_plan: text } } };
}

export function callStart(index: number, id: string, name: string, args = ''): JsonObject {
  const call = { id, type: 'function', function: { name, arguments: args } };
  return { type: 'tool-call-start', index, delta: { message: { tool_calls: call } } };
}

export function callDelta(index: number, args: string): JsonObject {
  return {
    type: 'tool-call-delta',
    index,
    delta: { message: { tool_calls: { function: { arguments: args } } } },
  };
}

export function callEnd(index: number): JsonObject {
  return { type: 'tool-call-end', index };
}

export function citationStart(index: number, citation: JsonObject): JsonObject {
  return { type: 'citation-start', index, delta: { message: { citations: citation } } };
}

export function end(reason: string, more: JsonObject = {}): JsonObject {
  return { type: 'message-end', delta: { finish_reason: reason, ...more } };
}

export const USAGE: JsonObject = {
  billed_units: { input_tokens: 12, output_tokens: 30 },
  tokens: { input_tokens: 210, output_tokens: 41, reasoning_tokens: 17 },
  cached_tokens: 160,
};

/** A source that the request brought along. */
export const DOCUMENT: JsonObject = {
  type: 'document',
  id: 'doc:1',
  document: { id: 'doc:1', title: 'Tides', text: 'The moon pulls the sea.' },
};

/** A thinking model that answers from a document, with characters of two UTF-16 units before the cited words. */
export const THOUGHT_AND_CITED: readonly JsonObject[] = [
  START,
  contentStart(0, 'thinking'),
  content(0, { thinking: 'The document says' }),
  content(0, { thinking: ' it — easily.' }),
  contentEnd(0),
  contentStart(1, 'text'),
  content(1, { text: '🌊 Tides come ' }),
  content(1, { text: 'from the moon.' }),
  contentEnd(1),
  citationStart(0, { start: 22, end: 26, text: 'moon', sources: [DOCUMENT], type: 'TEXT_CONTENT', content_index: 1 }),
  { type: 'citation-end', index: 0 },
  end('COMPLETE', { usage: USAGE }),
];

export const WHOLE_THOUGHT_AND_CITED: JsonObject = {
  id: START['id'],
  message: {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'The document says it — easily.' },
      { type: 'text', text: '🌊 Tides come from the moon.' },
    ],
    citations: [{ start: 22, end: 26, text: 'moon', sources: [DOCUMENT], type: 'TEXT_CONTENT', content_index: 1 }],
  },
  finish_reason: 'COMPLETE',
  usage: USAGE,
};

/** A model that plans in words, and calls two tools at once. */
export const PLAN_AND_CALLS: readonly JsonObject[] = [
  START,
  plan('I will look up'),
  plan(' both cities.'),
  callStart(0, 'weather_a1', 'weather'),
  callDelta(0, '{"city": "Ber'),
  callDelta(0, 'lin", "days": 1.0}'),
  callEnd(0),
  callStart(1, 'now_b2', 'now'),
  callEnd(1),
  end('TOOL_CALL', { usage: { ...USAGE, cached_tokens: 0 } }),
];

export const WHOLE_PLAN_AND_CALLS: JsonObject = {
  id: START['id'],
  message: {
    role: 'assistant',
    tool_plan: 'I will look up both cities.',
    tool_calls: [
      {
        id: 'weather_a1',
        type: 'function',
        function: { name: 'weather', arguments: '{"city": "Berlin", "days": 1.0}' },
      },
      { id: 'now_b2', type: 'function', function: { name: 'now', arguments: '' } },
    ],
  },
  finish_reason: 'TOOL_CALL',
  usage: { ...USAGE, cached_tokens: 0 },
};

/** The answer breaks off, and says so. */
export const FAILED_MIDWAY: readonly JsonObject[] = [
  START,
  contentStart(0, 'text'),
  content(0, { text: 'Once upon' }),
  end('ERROR', { error: 'internal server error', usage: USAGE }),
];

/** Plain text with the log probabilities of its tokens. */
export const WITH_LOGPROBS: readonly JsonObject[] = [
  START,
  contentStart(0, 'text'),
  content(0, { text: 'Gü' }, { logprobs: { text: 'Gü', token_ids: [7, 8], logprobs: [-0.5, -0.25] } }),
  content(0, { text: 'nter' }, { logprobs: { text: 'nter', token_ids: [9], logprobs: [-1] } }),
  contentEnd(0),
  end('MAX_TOKENS', { usage: USAGE }),
];

export const WHOLE_WITH_LOGPROBS: JsonObject = {
  id: START['id'],
  message: { role: 'assistant', content: [{ type: 'text', text: 'Günter' }] },
  finish_reason: 'MAX_TOKENS',
  usage: USAGE,
  logprobs: [
    { text: 'Gü', token_ids: [7, 8], logprobs: [-0.5, -0.25] },
    { text: 'nter', token_ids: [9], logprobs: [-1] },
  ],
};

/** An event stream of these events; a string stands as it is. */
export function stream(events: readonly (JsonObject | string)[]): Buffer {
  const frames = events.map((event) =>
    typeof event === 'string' ? event : `event: ${textOf(event['type']) ?? ''}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  return Buffer.from(`${frames.join('')}data: [DONE]\n\n`);
}

/** All events of a stream, read in pieces that end at these places. */
export function decodeStream(bytes: Uint8Array, cuts: readonly number[] = []): EventBatch {
  const decoder = createStreamDecoder();
  const events: GenerationEvent[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...decoder.push(bytes.subarray(from, cut)));
    from = cut;
  }
  events.push(...decoder.end());
  return events;
}

export function foldStream(events: readonly (JsonObject | string)[]): GenerationResponse {
  const decoded = decodeStream(stream(events));
  checkEvents(decoded);
  return foldEvents(decoded);
}

/** `weather({"city": "Berlin"})` */
export function callsOf(response: GenerationResponse): readonly string[] {
  return response.blocks.flatMap((block) =>
    block.type === 'tool-call' ? [`${block.id} ${block.name}(${block.input})`] : [],
  );
}

export function textOfBlocks(response: GenerationResponse, type: 'text' | 'reasoning'): string {
  return response.blocks.map((block) => (block.type === type ? block.text : '')).join('');
}
