import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWholeResponseMemory } from '../response/whole-response-budget.ts';
import { AnswerMemory } from './answer-memory.ts';

const NEVER = new AbortController().signal;

test('keeps the memory of all answers of a candidate until it is closed', async () => {
  const budget = createWholeResponseMemory(1_000);
  const memory = new AnswerMemory(budget);
  await memory.open().take(100, NEVER);
  const spliced = memory.open(2);
  await spliced.take(100, NEVER);
  assert.equal(budget.taken, 600, 'as text and parsed, too, and twice as bytes alone');
  spliced.shrink(100);
  assert.equal(budget.taken, 500);
  memory.close();
  memory.close();
  assert.equal(budget.taken, 0);
});
