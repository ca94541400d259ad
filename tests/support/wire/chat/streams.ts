import assert from 'node:assert/strict';
import type { GenerationResponse } from '../../../../src/canonical/response.ts';
import type { EventBatch, GenerationEvent } from '../../../../src/canonical/events.ts';
import { foldEvents } from '../../../../src/canonical/fold.ts';
import { checkEvents } from '../event-grammar.ts';
import { NO_USAGE } from '../../../../src/canonical/usage.ts';
import { parseJsonObject, type Json, type JsonObject } from '../../../../src/lib/json.ts';
import type { ResponseIdentity, FinalUsage } from '../../../../src/wire/format.ts';
import { createStreamDecoder } from '../../../../src/wire/chat/response/stream-in.ts';
import { objectOf } from '../../../../src/wire/json-fields.ts';

export const IDENTITY: ResponseIdentity = { id: 'gen-1', createdS: 1_760_000_000, model: 'acme/one', provider: 'Acme' };

export const FINAL_USAGE: FinalUsage = {
  usage: { ...NO_USAGE, promptTokens: 20, completionTokens: 9, estimated: false },
  charge: { totalNanoUsd: 120_000, promptNanoUsd: 40_000, completionNanoUsd: 80_000 },
  isByok: false,
  serviceMetadata: undefined,
};

/** One chunk of an upstream. */
export function chunk(delta: Json, choice: JsonObject = {}, members: JsonObject = {}): JsonObject {
  return {
    id: 'up-1',
    object: 'chat.completion.chunk',
    created: 5,
    model: 'one-2026',
    choices: [{ index: 0, delta, finish_reason: null, ...choice }],
    ...members,
  };
}

export function finish(reason: string, members: JsonObject = {}): JsonObject {
  return chunk({}, { finish_reason: reason }, members);
}

/** An event stream of these chunks; a string stands as it is. */
export function stream(...chunks: readonly (JsonObject | string)[]): Buffer {
  const events = chunks.map((entry) => `data: ${typeof entry === 'string' ? entry : JSON.stringify(entry)}\n\n`);
  return Buffer.from(events.join(''));
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

export function foldStream(...chunks: readonly (JsonObject | string)[]): GenerationResponse {
  const events = decodeStream(stream(...chunks));
  checkEvents(events);
  return foldEvents(events);
}

/** Chunks of a stream of ours, down to its `[DONE]`. */
export function readStream(text: string): readonly JsonObject[] {
  const events = text.split('\n\n');
  assert.equal(events.pop(), '', 'the stream ends with a blank line');
  assert.equal(events.pop(), 'data: [DONE]', 'the sentinel is the last event');
  return events.map((event) => {
    assert.match(event, /^data: [^\n]*$/, 'an event is one line of data');
    const read = parseJsonObject(event.slice('data: '.length));
    assert.ok(read !== undefined, `an event is JSON: ${event}`);
    return read;
  });
}

/** The deltas of chunks, without those that hold none. */
export function deltasOf(chunks: readonly JsonObject[]): readonly JsonObject[] {
  return chunks.flatMap((entry) => {
    const choices = entry['choices'];
    const delta = Array.isArray(choices) ? objectOf(objectOf(choices[0])?.['delta']) : undefined;
    return delta === undefined ? [] : [delta];
  });
}
