import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { healJson, isJson } from './heal-json.ts';
import { brokenOutputs } from '../../../tests/support/plugins/broken-outputs.ts';

const RATE_MIN = 0.95;
/** Parsed, and not what was meant: what a quote or a bracket belongs to cannot always be known. */
const RATE_WRONG_MAX = 0.02;

// @spec plugin-17
test('heals nearly every one of the broken outputs', (t) => {
  const outputs = brokenOutputs();
  assert.ok(outputs.length >= 200);
  let right = 0;
  const wrong: string[] = [];
  const left: string[] = [];
  for (const { name, text, meant } of outputs) {
    const healed = healJson(text, Array.isArray(meant) ? 'array' : 'object');
    if (healed === undefined) left.push(name);
    else if (isDeepStrictEqual(JSON.parse(healed), meant)) right++;
    else wrong.push(name);
  }
  const share = (count: number): string => `${((count / outputs.length) * 100).toFixed(1)} %`;
  t.diagnostic(
    `${outputs.length} broken outputs: ${share(right)} healed, ${share(wrong.length)} healed to another value`,
  );
  t.diagnostic(`healed to another value: ${wrong.join('; ')}`);
  t.diagnostic(`left as they were: ${left.join('; ')}`);
  assert.ok(right / outputs.length >= RATE_MIN);
  assert.ok(wrong.length / outputs.length <= RATE_WRONG_MAX);
});

test('makes nothing unwanted: an array becomes no object, and prose becomes neither', () => {
  for (const text of ['', 'hello', 'no', '[1, 2,]', 'See [1].', '{The answer is 42}', '```\nf()\n```', '"a text']) {
    assert.equal(healJson(text, 'object'), undefined, text);
  }
  assert.equal(healJson('[1, 2,]', 'array'), '[1, 2]');
  assert.equal(healJson('see [1]: {"a": [2],}', undefined), '{"a": [2]}');
});

test('keeps numbers and strings as they are written', () => {
  assert.equal(
    healJson('{"a": 1.0, "b": 12345678901234567890, "c": "\\u00e9",}', 'object'),
    '{"a": 1.0, "b": 12345678901234567890, "c": "\\u00e9"}',
  );
});

test('leaves a text alone that would take the repair for ever', () => {
  for (const text of [
    `{"a": ${'"'.repeat(200_000)}`,
    '['.repeat(200_000),
    `{"a": "${'x"\n'.repeat(60_000)}`,
    `{"a": ${'x'.repeat(400_000)}`,
  ])
    assert.equal(healJson(text, undefined), undefined);
});

test('makes JSON of the wanted kind, or nothing, of any text', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    'a',
    '1',
    ' ',
    '\n',
    '\\',
    "'",
    '```',
    'true',
    '//',
    '/*',
    '...',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), fc.constantFrom('object', 'array', undefined), (parts, wanted) => {
      const healed = healJson(parts.join(''), wanted);
      if (healed === undefined) return;
      assert.ok(isJson(healed));
      const value: unknown = JSON.parse(healed);
      if (wanted !== undefined) assert.equal(Array.isArray(value), wanted === 'array');
      assert.ok(typeof value === 'object' && value !== null);
    }),
    { numRuns: 2_000 },
  );
});
