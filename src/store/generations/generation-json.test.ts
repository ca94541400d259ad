import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptsColumn, warningsColumn } from './generation-json.ts';

const { encode: writeAttempts, decode: readAttempts } = attemptsColumn;
const { encode: writeWarnings, decode: readWarnings } = warningsColumn;

test('stores attempts under the names that other tools read', () => {
  const text = writeAttempts([{ provider: 'alpha', model: 'one', status: 200, latencyMs: 12.7 }]);
  assert.equal(text, '[{"provider":"alpha","model":"one","status":200,"latency_ms":13}]');
  assert.deepEqual(readAttempts(text), [{ provider: 'alpha', model: 'one', status: 200, latencyMs: 13 }]);
});

test("stores the provider's name with its attempt, and reads older records without one", () => {
  const attempt = { provider: 'alpha', providerName: 'Alpha, Inc.', model: 'one', status: null, latencyMs: 1 };
  assert.deepEqual(readAttempts(writeAttempts([attempt])), [attempt]);
});

test("stores each attempt's part of a response that two providers gave together", () => {
  const attempts = [
    {
      provider: 'alpha',
      model: 'one',
      status: 200,
      latencyMs: 1,
      part: { tokensPrompt: 3, tokensCompletion: 4, costNanoUsd: 5 },
    },
    {
      provider: 'beta',
      model: 'one',
      status: 200,
      latencyMs: 1,
      part: { tokensPrompt: 3, tokensCompletion: 4, costNanoUsd: null },
    },
  ];
  assert.deepEqual(readAttempts(writeAttempts(attempts)), attempts);
});

test('reads warnings as they were written', () => {
  const warnings = [{ code: 'content-dropped', path: 'messages[0]', message: 'an image' }] as const;
  assert.deepEqual(readWarnings(writeWarnings(warnings)), warnings);
});

test('shows a record despite a column of unknown content', () => {
  for (const text of ['', 'null', '{}', '[1, null, "x"]', '[{}]', 'not json']) {
    assert.ok(Array.isArray(readAttempts(text)));
    assert.deepEqual(readWarnings(text), []);
  }
  assert.deepEqual(readAttempts('[{"status":"200"}]'), [{ provider: '', model: '', status: null, latencyMs: 0 }]);
});
