import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWholeResponseMemory } from '../response/whole-response-budget.ts';
import { AnswerMemory } from './answer-memory.ts';

const NEVER = new AbortController().signal;

test('takes memory of answers that are needed together at once, and more of it where one is longer than expected', async () => {
  const budget = createWholeResponseMemory(1_000);
  const memory = new AnswerMemory(budget);
  const together = await memory.reserve(400, NEVER);
  assert.equal(budget.taken, 400);
  const first = together.open(2);
  await first.take(150, NEVER);
  assert.equal(budget.taken, 400, 'it is in what is reserved');
  await together.open(2).take(200, NEVER);
  assert.equal(budget.taken, 800, 'it is beyond what is reserved');
  memory.close();
  assert.equal(budget.taken, 0);
});

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
