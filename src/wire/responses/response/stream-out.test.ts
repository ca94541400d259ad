import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { objectAt, objectsOf, textOf } from '../../json-fields.ts';
import {
  begin,
  BROKE_OFF,
  call,
  CALLED,
  STOP,
  text,
  thought,
} from '../../../../tests/support/wire/responses/events.ts';
import { checkStream, lastResponse } from '../../../../tests/support/wire/responses/stream-checker.ts';
import {
  ACCOUNT,
  BROKEN,
  callerFormat,
  containers,
  CONTEXT,
  encodeStream,
  encodeWhole,
  FINAL_USAGE,
  identity,
  request,
} from '../../../../tests/support/wire/responses/caller.ts';

const START = begin();

suite('a stream of the responses format', () => {
  test('writes a text as one message', () => {
    const stream = encodeStream([START, ...text(0, 'Hel', 'lo'), STOP]);
    const names = checkStream(stream).map(({ name }) => name);
    assert.deepEqual(names, [
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });

  test('is nothing before there is content', () => {
    const encoder = callerFormat().createStreamEncoder(identity());
    assert.equal(encoder.encode([START, { type: 'block-start', index: 0, block: { type: 'text', text: '' } }]), '');
    assert.match(encoder.encode([{ type: 'block-delta', index: 0, text: 'Hi' }]), /^event: response\.created\n/);
  });

  // @spec responses-51
  test('seals a thought with its signature, so that it opens for the account alone', () => {
    const stream = encodeStream([
      { type: 'start', format: 'messages' },
      ...thought(0, 'anthropic-claude-v1', 'The user ', 'wants it.').slice(0, -1),
      { type: 'block-delta', index: 0, signature: 'EqQB' },
      { type: 'block-end', index: 0 },
      ...text(1, 'Here.'),
      STOP,
    ]);
    const [reasoning] = objectsOf(lastResponse(checkStream(stream))['output']);
    assert.deepEqual(reasoning?.['summary'], [{ type: 'summary_text', text: 'The user wants it.' }]);
    assert.equal(reasoning['signature'], 'EqQB');
    const sealed = textOf(reasoning['encrypted_content']) ?? '';
    assert.equal(containers.open('reasoning', 'acc-2', sealed), undefined);
    assert.deepEqual(containers.open('reasoning', ACCOUNT, sealed), {
      v: 1,
      item: 'rs_1',
      family: 'anthropic-claude-v1',
      format: 'messages',
      provider: 'Acme',
      model: 'acme/m1',
      at: 1_760_000_000,
      blocks: [{ form: 'text', text: 'The user wants it.', index: 0, signature: 'EqQB' }],
    });
  });

  // @spec responses-74
  test('keeps calls apart whose arguments come side by side', () => {
    const [a, b] = [call(0, 'call_a', 'weather', '{"city":', '"Oslo"}'), call(1, 'call_b', 'now', '{}')];
    const events = [START, ...a.slice(0, 2), ...b.slice(0, 2), ...a.slice(2), ...b.slice(2)];
    const response = lastResponse(checkStream(encodeStream([...events, CALLED])));
    assert.deepEqual(
      objectsOf(response['output']).map((item) => [item['call_id'], item['name'], item['arguments']]),
      [
        ['call_a', 'weather', '{"city":"Oslo"}'],
        ['call_b', 'now', '{}'],
      ],
    );
  });

  test('writes a call without arguments as an empty object', () => {
    const events = checkStream(encodeStream([START, ...call(0, 'call_a', 'now'), STOP]));
    assert.ok(events.every(({ name }) => name !== 'function_call_arguments.delta'));
    assert.equal(objectsOf(lastResponse(events)['output'])[0]?.['arguments'], '{}');
  });

  // @spec responses-77
  test('ends as failed with what came, whatever is open', () => {
    const events = checkStream(encodeStream([START, ...text(0, 'Half a').slice(0, -1), BROKE_OFF]));
    const response = lastResponse(events);
    assert.equal(response['status'], 'failed');
    assert.equal(objectAt(response, 'error')['code'], 'server_error');
    assert.ok(events.every(({ name }) => name !== 'output_item.done'));
  });

  // @spec responses-72
  test('lists what the whole response lists', () => {
    const events = [
      START,
      ...thought(0, undefined, 'Hm.'),
      ...text(1, 'Hello'),
      ...call(2, 'call_a', 'now', '{}'),
      STOP,
    ];
    const { encrypted_content: streamed, ...streamedReasoning } =
      objectsOf(lastResponse(checkStream(encodeStream(events)))['output'])[0] ?? {};
    const whole = encodeWhole(events);
    const { encrypted_content: sealed, ...reasoning } = objectsOf(whole['output'])[0] ?? {};
    assert.deepEqual(streamedReasoning, reasoning);
    assert.deepEqual(
      containers.open('reasoning', ACCOUNT, textOf(streamed) ?? ''),
      containers.open('reasoning', ACCOUNT, textOf(sealed) ?? ''),
    );
    assert.equal(whole['output_text'], 'Hello');
  });

  test('is the object that is kept, before its terminal event', () => {
    let nowMs = 1_795_813_056_999;
    // The second ends between the two.
    const format = callerFormat({ nowMs: () => nowMs++ });
    const encoder = format.createStreamEncoder(identity(request({}, { metadata: { a: 'b' } })));
    const frames = encoder.encode([START, ...text(0, 'Hello'), STOP]);
    const kept = encoder.snapshot?.({ ...FINAL_USAGE, isStored: true }, undefined) ?? {};
    const { output_text: joined, ...rest } = kept;
    assert.equal(joined, 'Hello');
    const stream = frames + encoder.close({ ...FINAL_USAGE, isStored: true });
    assert.deepEqual(lastResponse(checkStream(stream)), rest);
    assert.equal(rest['store'], true);
  });

  test('is opened by a failure before any content', () => {
    const encoder = callerFormat().createStreamEncoder(identity());
    const stream = encoder.fail(BROKEN, undefined, CONTEXT);
    assert.deepEqual(
      checkStream(stream).map(({ name }) => name),
      ['created', 'in_progress', 'failed'],
    );
    assert.equal(encoder.close(FINAL_USAGE), '');
  });
});
