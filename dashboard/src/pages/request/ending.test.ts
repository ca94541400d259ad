import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endingOf } from './ending.ts';

test('says of a request without a finish reason how its last attempt ended', () => {
  const none = { finish_reason: null, cancelled: false };
  assert.deepEqual(endingOf({ ...none, provider_responses: [{ status: 200 }] }), ['served', 'good']);
  assert.deepEqual(endingOf({ ...none, provider_responses: [{ status: 502 }, { status: 429 }] }), [
    'failed with 429',
    'bad',
  ]);
  assert.deepEqual(endingOf({ ...none, provider_responses: [{ status: null }] }), ['no provider was reached', 'bad']);
  assert.deepEqual(endingOf({ ...none, provider_responses: [] }), ['refused before any provider', 'bad']);
});

test('puts the caller that hung up before the reason', () => {
  const ended = { finish_reason: 'stop', provider_responses: [] };
  assert.deepEqual(endingOf({ ...ended, cancelled: true }), ['cancelled', 'warn']);
  assert.deepEqual(endingOf({ ...ended, cancelled: false }), ['stop', 'good']);
});
