import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { foldEvents } from '../../../canonical/fold.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeWhole } from './response-in.ts';
import { createStreamDecoder } from './stream-in.ts';
import {
  call,
  completed,
  CREATED,
  decodeStream,
  done,
  foldStream,
  linesOf,
  message,
  outputText,
  response,
  stated,
  stream,
} from '../../../../tests/support/wire/responses/streams.ts';

function ended(type: string, more: JsonObject) {
  return foldStream([CREATED, stated(0, 'Hi'), { type, response: response([], more) }]);
}

suite('how a response ends', () => {
  for (const [reason, finish] of [
    ['max_output_tokens', 'length'],
    ['content_filter', 'content_filter'],
    ['max_tokens', 'length'],
    ['length', 'length'],
    ['something_new', 'stop'],
  ] as const) {
    // @spec translate-25
    test(`incomplete because of ${reason} ends with ${finish}`, () => {
      const answer = ended('response.incomplete', { status: 'incomplete', incomplete_details: { reason } });
      assert.deepEqual(answer.end, { type: 'end', finish, nativeFinish: reason });
      assert.equal(answer.usage?.promptTokens, 120);
    });
  }

  test('incomplete without a reason was cut short', () => {
    assert.equal(ended('response.incomplete', { status: 'incomplete' }).end?.finish, 'length');
  });

  test('cut short in a call is cut short, not a call', () => {
    const events = [
      CREATED,
      done(0, call('a', 'f', '{"x":')),
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
    ];
    assert.equal(foldStream(events).end?.finish, 'length');
  });

  test('prefers the status to the name of the event', () => {
    assert.equal(ended('response.completed', { status: 'incomplete' }).end?.finish, 'length');
    assert.equal(ended('response.done', { status: 'completed' }).end?.finish, 'stop');
    assert.equal(
      ended('response.completed', { status: 'failed', error: { code: 'server_error' } }).failure?.status,
      502,
    );
  });

  test('closes open blocks', () => {
    assert.deepEqual(linesOf(foldStream([CREATED, stated(0, 'Hi'), completed()])), ['text: Hi']);
  });

  test('nothing after the end is read', () => {
    const answer = foldStream([CREATED, stated(0, 'Hi'), completed(), stated(0, ' again'), completed()]);
    assert.deepEqual(linesOf(answer), ['text: Hi']);
  });

  test('fails a stream without an end, and an empty one', () => {
    assert.equal(foldStream([CREATED, stated(0, 'Hi')]).failure?.kind, 'early-end');
    assert.equal(foldStream([]).failure?.kind, 'early-end');
  });

  test('decodes a last event without a blank line after it', () => {
    const bytes = stream([CREATED, completed()]);
    assert.equal(foldEvents(decodeStream(bytes.subarray(0, -2))).end?.finish, 'stop');
  });

  test('fails on an event that never ends, before it fills the memory', () => {
    const decoder = createStreamDecoder();
    const chunk = Buffer.from(`data: ${'x'.repeat(1_048_576)}`);
    let last = decoder.push(chunk).at(-1);
    for (let read = 0; read < 100 && last === undefined; read++) last = decoder.push(chunk.subarray(6)).at(-1);
    assert.ok(last?.type === 'failed' && last.failure.kind === 'too-large');
  });
});

suite('how a response fails', () => {
  const quota = { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota.' };

  for (const [name, event] of Object.entries({
    'an error event with its error inside': { type: 'error', sequence_number: 2, error: quota },
    'an error event that is the error': { ...quota, type: 'error', sequence_number: 2 },
    'response.failed': { type: 'response.failed', response: { status: 'failed', error: quota } },
    'response.failed with the error beside the response': { type: 'response.failed', error: quota },
    'an error object without a type': { error: quota },
  })) {
    test(`${name}: an account that ran dry is the provider's failure`, () => {
      const { failure } = foldStream([CREATED, event]);
      assert.deepEqual([failure?.kind, failure?.status], ['error-event', 502]);
      assert.equal(failure?.providerCode, 'insufficient_quota');
    });
  }

  for (const [code, status, errorType] of [
    ['rate_limit_exceeded', 429, 'rate_limit_exceeded'],
    ['server_error', 502, 'provider_unavailable'],
    ['context_length_exceeded', 400, 'context_length_exceeded'],
    ['invalid_prompt', 400, 'content_policy_violation'],
    ['image_content_policy_violation', 400, 'content_policy_violation'],
    ['image_file_too_large', 400, 'image_too_large'],
    ['invalid_base64_image', 400, 'invalid_image'],
    ['unsupported_image_media_type', 400, 'unsupported_image_format'],
    ['failed_to_download_image', 400, 'image_download_failed'],
    ['image_file_not_found', 404, 'image_not_found'],
    ['vector_store_timeout', 524, 'timeout'],
    ['slow_down', 529, 'provider_overloaded'],
  ] as const) {
    test(`${code} has the status that it would have outside of a stream`, () => {
      const { failure } = foldStream([
        CREATED,
        { type: 'response.failed', response: { error: { code, message: 'No.' } } },
      ]);
      assert.deepEqual([failure?.status, failure?.errorType], [status, errorType]);
    });
  }

  test('keeps the text before a failure, and the usage', () => {
    const failed = {
      type: 'response.failed',
      response: response([], { status: 'failed', error: { code: 'server_error' } }),
    };
    const answer = foldStream([CREATED, stated(0, 'Hi'), failed]);
    assert.deepEqual(linesOf(answer), ['text: Hi']);
    assert.equal(answer.usage?.completionTokens, 45);
    assert.equal(answer.end, undefined);
  });

  test('fails a cancelled response', () => {
    assert.equal(ended('response.cancelled', { status: 'cancelled' }).failure?.kind, 'error-event');
  });

  test('fails a failed whole response', () => {
    const events = decodeWhole(
      JSON.stringify(response([message('m', outputText('Hi'))], { status: 'failed', error: quota })),
    );
    assert.deepEqual(events.at(-1)?.type, 'failed');
  });

  test('fails a whole response that is not ready', () => {
    assert.equal(
      foldEvents(decodeWhole(JSON.stringify(response([], { status: 'in_progress' })))).failure?.kind,
      'early-end',
    );
  });
});
