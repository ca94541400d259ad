import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldEvents } from '../../../canonical/fold.ts';
import { checkEvents } from '../../../../tests/support/wire/event-grammar.ts';
import { decodeWhole } from './response.ts';
import {
  decodeStream,
  SIGNATURE,
  stream,
  USAGE,
  withCountedIds,
  withLastCount,
} from '../../../../tests/support/wire/gemini/streams.ts';

const text = fc.oneof(fc.string(), fc.constantFrom('', 'x', SIGNATURE));
const args = fc.oneof(fc.jsonValue(), fc.object());
const path = fc.constantFrom('$.a', '$.a[0]', '$.a[1].b', "$['c d']", '$', '$.b.c', 'x');
const piece = fc.record(
  { jsonPath: fc.oneof(path, text), stringValue: text, numberValue: fc.double(), boolValue: fc.boolean() },
  { requiredKeys: ['jsonPath'] },
);
const functionCall = fc.record(
  {
    name: fc.oneof(text, fc.jsonValue()),
    id: fc.oneof(text, fc.jsonValue()),
    args,
    partialArgs: fc.oneof(fc.array(piece), fc.jsonValue()),
    willContinue: fc.oneof(fc.boolean(), fc.jsonValue()),
  },
  { requiredKeys: [] },
);
const file = fc.record({ mimeType: fc.constantFrom('image/png', 'audio/wav', ''), data: fc.base64String() });
const part = fc.record(
  {
    text,
    thought: fc.boolean(),
    thoughtSignature: fc.oneof(text, fc.jsonValue()),
    functionCall: fc.oneof(functionCall, fc.jsonValue()),
    inlineData: fc.oneof(file, fc.jsonValue()),
    fileData: fc.jsonValue(),
    executableCode: fc.jsonValue(),
    codeExecutionResult: fc.jsonValue(),
    toolCall: fc.jsonValue(),
    toolResponse: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const candidate = fc.record(
  {
    content: fc.oneof(
      fc.record({ parts: fc.oneof(fc.array(fc.oneof(part, fc.jsonValue())), fc.jsonValue()) }),
      fc.jsonValue(),
    ),
    index: fc.constantFrom(0, 1, null),
    finishReason: fc.oneof(fc.constantFrom('STOP', 'SAFETY', ''), fc.jsonValue()),
    groundingMetadata: fc.oneof(
      fc.record({
        groundingChunks: fc.oneof(fc.array(fc.record({ web: fc.record({ uri: text, title: text }) })), fc.jsonValue()),
        groundingSupports: fc.array(
          fc.record({
            segment: fc.record({ startIndex: fc.integer(), endIndex: fc.integer(), text }),
            groundingChunkIndices: fc.array(fc.integer({ min: -1, max: 3 })),
          }),
        ),
      }),
      fc.jsonValue(),
    ),
    citationMetadata: fc.jsonValue(),
    logprobsResult: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
/** Anything that looks like a chunk from afar. */
const event = fc.record(
  {
    candidates: fc.oneof(fc.array(fc.oneof(candidate, fc.jsonValue())), fc.jsonValue()),
    usageMetadata: fc.oneof(fc.constant(USAGE), fc.jsonValue()),
    promptFeedback: fc.jsonValue(),
    responseId: fc.jsonValue(),
    modelVersion: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test('whatever comes gives events of the grammar and never throws', () => {
  const line = fc.oneof({ weight: 8, arbitrary: event.map((value) => JSON.stringify(value)) }, fc.string(), fc.json());
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat({ max: 400 })), (lines, cuts) => {
      const bytes = stream(lines.map((entry) => entry.replaceAll(/[\r\n]/g, ' ')));
      const places = cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b);
      const events = decodeStream(bytes, places);
      checkEvents(events);
      foldEvents(events);
      assert.deepEqual(withCountedIds(withLastCount(events)), withCountedIds(withLastCount(decodeStream(bytes))));
    }),
    { numRuns: 500 },
  );
});

test('whatever stands in a whole response gives events of the grammar and never throws', () => {
  const response = fc.oneof(event, fc.array(event), fc.jsonValue());
  fc.assert(
    fc.property(response, fc.constantFrom(undefined, 1), (value, indent) => {
      const events = decodeWhole(JSON.stringify(value, undefined, indent));
      checkEvents(events);
      foldEvents(events);
    }),
    { numRuns: 500 },
  );
});
