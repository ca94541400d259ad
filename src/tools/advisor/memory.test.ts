import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Turn } from '../../canonical/request.ts';
import { earlierAdvice, middleOut } from './memory.ts';

const NAME = 'service_advisor';

function requested(id: string, input: string, result: string, name = NAME): readonly Turn[] {
  return [
    { role: 'assistant', blocks: [{ type: 'tool-call', id, name, input, runBy: 'caller' }] },
    { role: 'tool', blocks: [{ type: 'tool-result', callId: id, content: [{ type: 'text', text: result }] }] },
  ];
}

test('contains only calls of this very function that have a result', () => {
  const turns = [
    ...requested('1', '{"prompt":"one"}', '{"status":"ok","advice":"first"}'),
    ...requested('2', '{"prompt":"two"}', '{"status":"error","error":"no"}'),
    ...requested('3', '{"prompt":"three"}', '{"status":"ok","advice":"third"}', `${NAME}__1`),
    ...requested('4', 'not JSON', '{"status":"ok","advice":"fourth"}'),
    ...requested('5', '{"prompt":"five"}', '{"status":"ok","advice":"fifth"}'),
  ];
  assert.deepEqual(earlierAdvice(turns, NAME), [
    { prompt: 'one', advice: 'first' },
    { prompt: 'five', advice: 'fifth' },
  ]);
});

test('leaves out the middle', () => {
  const memory = ['a', 'b', 'c', 'd', 'e'].map((letter) => ({ prompt: letter, advice: letter }));
  const left = (charsMax: number): string =>
    middleOut(memory, charsMax)
      .map(({ prompt }) => prompt)
      .join('');
  assert.equal(left(10), 'abcde');
  assert.equal(left(9), 'abde');
  assert.equal(left(4), 'ae');
  assert.equal(left(2), 'e', 'the last is the last to go');
  assert.equal(left(1), '');
});
