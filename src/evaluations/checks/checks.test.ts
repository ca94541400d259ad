import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../lib/json.ts';
import type { Check } from '../../resources/evaluations.ts';
import { defaultChecks } from '../dataset/item.ts';
import { checkAnswer } from './check-answer.ts';
import type { Answer } from './answer.ts';
import { isSameJson } from './json-checks.ts';
import { normalize } from './text-checks.ts';

const answer = (text: string, more: Partial<Answer> = {}): Answer => ({
  text,
  calls: [],
  finish: 'stop',
  refused: false,
  ...more,
});
const noJudge = () => Promise.reject(new Error('no judge is asked'));
const noSlow = { judge: noJudge, runCommand: noJudge };

async function verdictOf(expected: Json | undefined, given: Answer | string, checks?: readonly Check[]) {
  const made = typeof given === 'string' ? answer(given) : given;
  return (await checkAnswer({ expected, checks: checks ?? defaultChecks(expected) }, made, noSlow)).verdict;
}

suite('checks of an answer', () => {
  // @spec evaluation-4
  test('compare texts without case, spacing and marks around them', async () => {
    assert.equal(await verdictOf('Paris', ' **paris.**\n'), 'pass');
    assert.equal(await verdictOf(['Paris', 'Lutetia'], 'lutetia'), 'pass');
    assert.equal(await verdictOf('Paris', 'It is Paris.'), 'fail');
    assert.equal(await verdictOf('Paris', 'It is Paris.', [{ type: 'contains' }]), 'pass');
    assert.equal(await verdictOf('Paris', 'paris', [{ type: 'exact' }]), 'fail');
  });

  test('take the last number that is said', async () => {
    assert.equal(await verdictOf(1234.5, '2 + 2 is not it: $1,234.50'), 'pass');
    assert.equal(await verdictOf(3.14, '3.2', [{ type: 'number', tolerance: 0.1 }]), 'pass');
    assert.equal(await verdictOf(0.3, String(0.1 + 0.2)), 'pass');
    assert.equal(await verdictOf(3, '4'), 'fail');
    assert.equal(await verdictOf(3, 'three'), 'invalid');
  });

  test('find the label that an answer chooses', async () => {
    const choice: readonly Check[] = [{ type: 'choice', labels: ['A', 'B', 'C', 'D'] }];
    for (const text of [
      'B',
      '(B)',
      'b.',
      'B) Rome',
      'The answer is **B**',
      'A is wrong, so the answer: (B).',
      'I take B',
    ])
      assert.equal(await verdictOf('B', text, choice), 'pass', text);
    assert.equal(await verdictOf('B', 'The answer is C', choice), 'fail');
    assert.equal(await verdictOf('B', 'A and B', choice), 'invalid');
    assert.equal(await verdictOf('B', 'a dog', choice), 'invalid');
  });

  test('compare JSON whatever the order of its members, with or without a fence', async () => {
    assert.equal(await verdictOf({ a: 1, b: [2] }, '```json\n{"b": [2], "a": 1}\n```'), 'pass');
    assert.equal(await verdictOf({ a: 1 }, '{"a": 1, "b": 2}'), 'fail');
    assert.equal(await verdictOf({ a: 1 }, 'none'), 'invalid');
    const schema: Check = { type: 'json_schema', schema: { type: 'object', required: ['a'] } };
    assert.equal(await verdictOf(undefined, '{"a": 1}', [schema]), 'pass');
    assert.equal(await verdictOf(undefined, '{}', [schema]), 'fail');
  });

  test('compare calls of tools in any order', async () => {
    const expected = { tool_calls: [{ name: 'f' }, { name: 'f', arguments: { x: 1 } }] };
    const calls = [
      { name: 'f', input: '{"x": 1}' },
      { name: 'f', input: '{"x": 2}' },
    ];
    assert.equal(await verdictOf(expected, answer('', { calls, finish: 'tool_calls' })), 'pass');
    assert.equal(await verdictOf(expected, answer('', { calls: calls.slice(1) })), 'fail');
  });

  test('cut a pattern off that takes too long', async () => {
    assert.equal(await verdictOf(undefined, 'no 42', [{ type: 'regex', pattern: '\\d+$' }]), 'pass');
    const slow: Check = { type: 'regex', pattern: '.*.*.*.*.*x' };
    assert.equal(await verdictOf(undefined, 'y'.repeat(10_000), [slow]), 'fail');
  });

  // @spec evaluation-5
  test('tell refusals, cut answers and answers without form apart, all with score 0', async () => {
    assert.equal(await verdictOf('Paris', answer('', { refused: true })), 'refused');
    assert.equal(await verdictOf('Paris', answer('Well, it', { finish: 'length' })), 'length');
    assert.equal(await verdictOf('Paris', answer('Paris', { finish: 'length' })), 'pass');
  });

  test('ask the judge last, and only where all else holds', async () => {
    const checks: readonly Check[] = [{ type: 'judge' }, { type: 'contains' }];
    const asked: number[] = [];
    const judge = (score: number | null) => ({
      ...noSlow,
      judge: () => Promise.resolve((asked.push(1), score)),
    });
    const item = { expected: 'Paris', checks };
    assert.deepEqual(await checkAnswer(item, answer('Paris'), judge(0.75)), { verdict: 'partial', score: 0.75 });
    assert.deepEqual(await checkAnswer(item, answer('Paris'), judge(null)), { verdict: 'unjudged', score: null });
    assert.deepEqual(await checkAnswer(item, answer('Rome'), judge(1)), { verdict: 'fail', score: 0 });
    assert.equal(asked.length, 2);
  });

  // @spec evaluation-18
  test('run a command before the judge, and after all else', async () => {
    const checks: readonly Check[] = [{ type: 'judge' }, { type: 'command', command: 'true' }, { type: 'contains' }];
    const done: string[] = [];
    const slow = (score: number | null) => ({
      judge: () => Promise.resolve((done.push('judge'), 1)),
      runCommand: ({ command }: { readonly command: string }) => Promise.resolve((done.push(command), score)),
    });
    const item = { expected: 'Paris', checks };
    assert.deepEqual(await checkAnswer(item, answer('Paris'), slow(1)), { verdict: 'pass', score: 1 });
    assert.deepEqual(await checkAnswer(item, answer('Paris'), slow(0)), { verdict: 'fail', score: 0 });
    assert.deepEqual(await checkAnswer(item, answer('Paris'), slow(null)), { verdict: 'unjudged', score: null });
    assert.deepEqual(await checkAnswer(item, answer('Rome'), slow(1)), { verdict: 'fail', score: 0 });
    assert.deepEqual(done, ['true', 'judge', 'true', 'true']);
  });

  test('keep any text equal to itself, and any JSON to a copy with its members reversed', () => {
    fc.assert(fc.property(fc.string(), (text) => assert.equal(normalize(text), normalize(`  ${text} `))));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        const reversed = Object.fromEntries(Object.entries(JSON.parse(text)).toReversed());
        const copy: Json = JSON.parse(JSON.stringify(reversed));
        const original: Json = JSON.parse(text);
        assert.ok(isSameJson(original, copy));
      }),
    );
  });
});
