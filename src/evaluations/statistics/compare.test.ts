import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createLoopTurns } from '../../lib/async/loop-turns.ts';
import { systemClock } from '../../lib/clock.ts';
import { compare } from './compare.ts';
import { createRandom, type RandomSource } from './random.ts';
import { summarize, type Result } from './summary.ts';

const turns = createLoopTurns({ clock: systemClock });
/** Nothing waits in a test. */
const atOnce = { next: () => Promise.resolve() };
const PPM = 1_000_000;

function resultOf(item: number, score: number | null, more: Partial<Result> = {}): Result {
  return {
    item,
    itemId: `item-${item}`,
    groupName: null,
    weightPpm: PPM,
    verdict: score === null ? 'upstream_error' : score === 1 ? 'pass' : score === 0 ? 'fail' : 'partial',
    scorePpm: score === null ? null : Math.round(score * PPM),
    costNanoUsd: 100,
    judgeCostNanoUsd: 0,
    latencyMs: 10 * (item + 1),
    outputTokens: 5,
    generationId: `gen-${item}`,
    ...more,
  };
}

const answers = (scores: readonly (number | null)[]): readonly Result[] =>
  scores.map((score, item) => resultOf(item, score));
const trial = (random: RandomSource, share: number): number => Number(random() < share);

suite('the summary of a model', () => {
  test('leaves out what has no score, and counts it', async () => {
    const summary = await summarize(answers([1, 0, null, 1]), 0, turns);
    assert.deepEqual([summary.items, summary.mean, summary.method, summary.smallSample], [3, 2 / 3, 'wilson', true]);
    assert.equal(summary.verdicts.upstream_error, 1);
    assert.deepEqual([summary.costNanoUsd, summary.costPerItemNanoUsd], [400, 100]);
    assert.deepEqual(summary.latencyMs, { p50: 20, p95: 38 });
  });

  test('averages repeats inside an item first, and weighs items', async () => {
    const summary = await summarize(
      [resultOf(0, 1), resultOf(0, 1), resultOf(0, 0), resultOf(1, 1, { weightPpm: 3 * PPM })],
      0,
      turns,
    );
    assert.equal(summary.items, 2);
    assert.ok(Math.abs((summary.mean ?? 0) - (2 / 3 + 3) / 4) < 1e-6);
    assert.equal(summary.method, 'bootstrap');
  });

  test('has no mean and no interval where nothing came', async () => {
    const { mean, interval, latencyMs, costPerItemNanoUsd } = await summarize([], 0, turns);
    assert.deepEqual([mean, interval, latencyMs, costPerItemNanoUsd], [null, null, null, null]);
  });

  // @spec evaluation-12
  test('is the same, byte for byte, for the same seed', async () => {
    const random = createRandom(5);
    const results = Array.from({ length: 60 }, (_, item) => resultOf(item, random(), { groupName: `g${item % 9}` }));
    const text = async (seed: number) => JSON.stringify(await summarize(results, seed, turns));
    assert.equal(await text(3), await text(3));
    assert.notEqual(await text(3), await text(4));
  });
});

suite('a comparison', () => {
  // @spec evaluation-13
  test('shows no difference between models that are alike in at least 93 % of a thousand runs', async () => {
    const random = createRandom(11);
    let shown = 0;
    for (let run = 0; run < 1_000; run++) {
      const a = answers(Array.from({ length: 40 }, () => trial(random, 0.6)));
      const b = answers(Array.from({ length: 40 }, () => trial(random, 0.6)));
      const [one] = await compare([{ a, b }], run, atOnce);
      if (one?.verdict !== 'no difference shown') shown++;
    }
    assert.ok(shown <= 70, `${shown} of 1,000`);
    assert.ok(shown > 0, 'a test that shows nothing at all would pass, too');
  });

  test('shows a difference that is there, and its direction', async () => {
    const random = createRandom(12);
    const weak = answers(Array.from({ length: 200 }, () => trial(random, 0.5)));
    const strong = answers(Array.from({ length: 200 }, () => trial(random, 0.75)));
    const [up] = await compare([{ a: weak, b: strong }], 0, turns);
    const [down] = await compare([{ a: strong, b: weak }], 0, turns);
    assert.deepEqual([up?.verdict, down?.verdict], ['better', 'worse']);
    assert.ok(up?.mcnemarP !== null && (up?.mcnemarP ?? 1) < 0.01);
    assert.equal(up?.gained.length, down?.lost.length);
  });

  test('uses the items that both have, and counts the others', async () => {
    const [one] = await compare([{ a: answers([1, 1, null]), b: answers([0, null, 1]) }], 0, turns);
    assert.deepEqual([one?.items, one?.onlyA, one?.onlyB, one?.difference], [1, 1, 1, -1]);
    assert.deepEqual(one?.lost, [{ itemId: 'item-0', a: 'gen-0', b: 'gen-0' }]);
    assert.equal(one?.verdict, 'no difference shown');
  });

  test('holds each of several comparisons to a stricter bound', async () => {
    // Seven items, all gained: p is 2 of 2^7 alone, and four times that as one of four.
    const pair = { a: answers(Array.from({ length: 7 }, () => 0)), b: answers(Array.from({ length: 7 }, () => 1)) };
    const [alone] = await compare([pair], 0, turns);
    const same = { a: pair.a, b: pair.a };
    const [among] = await compare([pair, same, same, same], 0, turns);
    assert.equal(alone?.verdict, 'better');
    assert.equal(among?.verdict, 'no difference shown');
  });
});
