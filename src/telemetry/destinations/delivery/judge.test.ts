import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterFailure, waitAfter } from './delivery-state.ts';
import { redactOf } from '../connection-test.ts';
import type { OutboundCall } from '../contract.ts';
import { langfuse } from '../langfuse/destination.ts';
import { createRedact } from './redact.ts';
import { judgeOtlp, judgeStatus, retryAfterOf } from './judge.ts';

const answer = (status: number, text = '', headers: Readonly<Record<string, string>> = {}) => ({
  status,
  text,
  headers,
});
const HOUR_MS = 3_600_000;

test('tells answers of which the same call may succeed later from those where something must change', () => {
  const kinds = (statuses: readonly number[]) => statuses.map((status) => judgeStatus(answer(status)).kind);
  assert.deepEqual(new Set(kinds([200, 202, 204, 299])), new Set(['taken']));
  assert.deepEqual(new Set(kinds([408, 425, 429, 500, 502, 503, 504, 520])), new Set(['retry']));
  assert.deepEqual(new Set(kinds([301, 302, 307, 401, 403, 404, 405, 410])), new Set(['fault']));
  assert.deepEqual(new Set(kinds([400, 413, 415, 422])), new Set(['rejected']));
});

// @spec destination-29
test('takes 500 of a receiver of OTLP as the fault of a span, and its partial success as final', () => {
  assert.equal(judgeOtlp(answer(500)).kind, 'rejected');
  assert.equal(judgeOtlp(answer(503)).kind, 'retry');
  assert.deepEqual(judgeOtlp(answer(200, '{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}')), {
    kind: 'taken',
    refusedCount: 3,
    warning: 'Status 200: too old',
  });
  assert.deepEqual(judgeOtlp(answer(200, '{"partialSuccess":{"errorMessage":"soon gone"}}')), {
    kind: 'taken',
    warning: 'Status 200: soon gone',
  });
  assert.deepEqual(judgeOtlp(answer(200, '{}')), { kind: 'taken' });
  assert.deepEqual(judgeOtlp(answer(200, 'not json')), { kind: 'taken' });
});

// @spec destination-29
test('reads what a receiver refuses also where it answers in Protocol Buffers, as it was called', () => {
  const text = Buffer.from('too old');
  const partial = Buffer.concat([Buffer.from([8, 0xac, 2, 18, text.length]), text]);
  const bytes = Buffer.concat([Buffer.from([10, partial.length]), partial]);
  const headers = { 'content-type': 'application/x-protobuf' };
  const read = (status: number, body: Buffer) =>
    judgeOtlp({ status, headers, text: body.toString('utf8'), bytes: body });
  assert.deepEqual(read(200, bytes), { kind: 'taken', refusedCount: 300, warning: 'Status 200: too old' });
  assert.deepEqual(read(200, Buffer.alloc(0)), { kind: 'taken' });
  const cut = Array.from({ length: bytes.length }, (_, end) => read(200, bytes.subarray(0, end)).kind);
  assert.deepEqual(new Set(cut), new Set(['taken']));
  const status = Buffer.concat([Buffer.from([8, 3, 18, text.length]), text]);
  assert.deepEqual(read(400, status), { kind: 'rejected', message: 'Status 400: too old' });
  assert.deepEqual(read(429, Buffer.from([255])), { kind: 'retry', message: 'Status 429.' });
});

test('reads Retry-After in both forms', () => {
  const nowMs = Date.parse('2026-11-21T00:00:00Z');
  const after = (value: string) => retryAfterOf(answer(429, '', { 'retry-after': value }), nowMs);
  assert.equal(after('7'), 7_000);
  assert.equal(after('Sat, 21 Nov 2026 00:00:30 GMT'), 30_000);
  assert.equal(after('Fri, 20 Nov 2026 00:00:00 GMT'), 0);
  assert.equal(after('999999'), 999_999_000);
  assert.equal(after('soon'), undefined);
});

// @spec destination-21
test('waits twice as long after each failure, up to a quarter of an hour, and longer where nothing changes by itself', () => {
  const stop = { status: 503, message: '', isFault: false };
  const waits = [1, 2, 3, 11, 40].map((failures) => waitAfter(failures, stop, 0));
  assert.deepEqual(waits, [1_000, 2_000, 4_000, 900_000, 900_000]);
  assert.equal(waitAfter(1, { ...stop, isFault: true }, 0), 60_000);
  assert.equal(waitAfter(1, { ...stop, afterMs: 5_000 }, 0.5), 5_750);
  const hinted = [86_400_000, Infinity, -Infinity, Number.NaN].map((afterMs) => waitAfter(1, { ...stop, afterMs }, 0));
  assert.deepEqual(hinted, [900_000, 900_000, 1_000, 1_000]);
});

test('is failing after ten calls or a quarter of an hour, and suspended after a day without success', () => {
  const stop = { status: 503, message: 'busy', isFault: false };
  const state = (failures: number, forMs: number, changes: object = {}, suspendAfterMs = 24 * HOUR_MS) =>
    afterFailure({ failures, failingSinceMs: 1_000 }, { ...stop, ...changes }, 1_000 + forMs, suspendAfterMs).state;
  assert.equal(afterFailure({ failures: 0, failingSinceMs: null }, stop, 5, 0).failingSinceMs, 5);
  assert.equal(state(0, 0), 'retrying');
  assert.equal(state(0, 0, { isFault: true }), 'failing');
  assert.equal(state(9, 0), 'failing');
  assert.equal(state(1, 900_000), 'failing');
  assert.equal(state(48, 24 * HOUR_MS), 'failing');
  assert.equal(state(49, 24 * HOUR_MS), 'suspended');
  assert.equal(state(49, 24 * HOUR_MS, {}, 0), 'failing');
  assert.equal(state(0, 0, { suspends: true }), 'suspended');
});

// @spec destination-22
test('keeps no secret of what an address repeats, in any form that calls have', () => {
  const config = {
    key: 'secret-key-1234',
    headers: { authorization: 'Bearer abc.def/ghi+' },
    url: 'https://a.example',
  };
  const redact = createRedact(config, ['key', 'headers']);
  const basic = Buffer.from('secret-key-1234').toString('base64');
  const text = `bad key secret-key-1234 (${basic}), header abc.def/ghi+ or ${encodeURIComponent('abc.def/ghi+')} at https://a.example`;
  assert.equal(redact(text), 'bad key *** (***), header *** or *** at https://a.example');
  assert.equal(redact('x'.repeat(1_000)).length, 300);
});

// @spec destination-22
test('keeps no part of a header that identifies a sender, as an address may repeat it alone', () => {
  const pair = Buffer.from('pk-lf-1:sk-lf-secret-1').toString('base64');
  const headers = {
    authorization: `Basic ${pair}`,
    'x-sentry-auth': 'sentry sentry_key=0123456789abcdef, sentry_version=7',
    'x-api-key': 'a"quoted\\key',
    'content-type': 'application/json',
  };
  const redact = redactOf({ hidesAnswers: false }, langfuse, { secretKey: 'sk-lf-secret-1' });
  const call: OutboundCall = { url: 'https://a.example', method: 'POST', headers, ids: [] };
  const shown = (text: string): string => redact(text, call);
  assert.equal(shown(`cannot decode ${pair} of application/json`), 'cannot decode *** of application/json');
  assert.equal(shown('no key 0123456789abcdef here'), 'no key *** here');
  assert.equal(shown(JSON.stringify({ key: headers['x-api-key'] })), '{"key":"***"}');
  assert.equal(shown('no Basic or sentry'), 'no Basic or sentry');
});
