import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { UPSTREAM_FORMATS } from '../../src/app/upstream-formats.ts';
import type { EventBatch } from '../../src/canonical/events.ts';
import { objectsOf, textOf } from '../../src/wire/json-fields.ts';
import { readOwnRecordings, readRecordings, type Recording } from '../support/recordings/recordings.ts';
import { decodeInPieces } from '../support/wire/decode-in-pieces.ts';
import {
  encodeStream,
  encodeWhole,
  openContainers,
  readByAiSdk,
  readBySdk,
  request,
} from '../support/wire/responses/caller.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

/** Responses of every wire format, as callers of the responses format get them. */
const RECORDINGS = [...readOwnRecordings(), ...readRecordings()].filter(({ status }) => status === 200);
const OPTIONS = { containers: openContainers };

function eventsOf({ format, body, streamed }: Recording, cuts: readonly number[] = []): EventBatch {
  return streamed ? decodeInPieces(format, body, cuts) : UPSTREAM_FORMATS[format].decodeWhole(body.toString('utf8'));
}

/** Ids of items count from 1 in each; those that the gateway makes for calls without one count here. */
function streamOf(events: EventBatch): string {
  const known: string[] = [];
  return encodeStream(events, request(), OPTIONS).replaceAll(/call_[A-Za-z0-9]{24}\b/g, (id) => {
    if (!known.includes(id)) known.push(id);
    return `call_${known.indexOf(id)}`;
  });
}

suite('recorded responses as callers of the responses format get them', () => {
  for (const recording of RECORDINGS) {
    const events = eventsOf(recording);
    const stream = streamOf(events);

    // @spec responses-70, responses-pains-9, responses-pains-10, responses-pains-13
    test(`${recording.name}: keeps the grammar of the format`, () => {
      checkStream(stream);
    });

    // @spec responses-73, responses-pains-12
    test(`${recording.name}: is the same however its bytes are cut`, () => {
      if (!recording.streamed) return;
      const everyByte = Array.from({ length: recording.body.length }, (_, at) => at);
      const cut = checkStream(streamOf(eventsOf(recording, everyByte)));
      assert.deepEqual(lastResponse(cut)['output'], lastResponse(checkStream(stream))['output']);
    });

    // @spec responses-72
    test(`${recording.name}: lists at its end what a whole response lists`, () => {
      const streamed = lastResponse(checkStream(encodeStream(events, request(), OPTIONS)));
      const { output_text: _text, ...whole } = encodeWhole(events, request(), OPTIONS);
      assert.deepEqual(streamed, whole);
    });

    // @spec responses-58, responses-pains-7
    test(`${recording.name}: shows each thought once`, () => {
      for (const item of objectsOf(lastResponse(checkStream(stream))['output'])) {
        if (item['type'] !== 'reasoning' || recording.format === 'responses') continue;
        const readable = [objectsOf(item['summary']), objectsOf(item['content'])].filter(
          (parts) => parts.map(({ text }) => textOf(text) ?? '').join('') !== '',
        );
        assert.ok(readable.length <= 1);
      }
    });

    // @spec responses-pains-9
    test(`${recording.name}: is read by the vendor's SDK`, async () => {
      const read = await readBySdk(stream);
      const listed = objectsOf(lastResponse(checkStream(stream))['output']);
      assert.deepEqual(
        objectsOf(read.output).map(({ id, type }) => [id, type]),
        listed.map(({ id, type }) => [id, type]),
      );
    });

    // @spec responses-pains-9
    test(`${recording.name}: is read by the AI SDK`, async () => {
      const response = lastResponse(checkStream(stream));
      const items = objectsOf(response['output']);
      const texts = items
        .filter(({ type }) => type === 'message')
        .flatMap(({ content }) => objectsOf(content))
        .map(({ text, refusal }) => textOf(text ?? refusal) ?? '');
      const calls = items
        .filter(({ type, status }) => type === 'function_call' && status === 'completed')
        .map(({ call_id: id }) => id);
      const failures = response['status'] === 'failed' ? 1 : 0;
      assert.deepEqual(await readByAiSdk(stream), { text: texts.join(''), calls, failures });
    });
  }
});
