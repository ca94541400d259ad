import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TestedModel } from '../../canonical/model-choice.ts';
import { blend, createRankings, recipeOf } from './rankings.ts';
import { TASK_TAGS } from '../classify/task-tags.ts';

const NEW = 'livebench-2026-06-25';
const OLD = 'livebench-2026-01-08';

function model(slug: string, scores: Readonly<Record<string, number>>): TestedModel {
  return { slug, scores: Object.entries(scores).map(([metric, score]) => ({ metric, score })) };
}

const MODELS = [
  model('a/coder', { [`${NEW}/coding`]: 0.9, [`${NEW}/agentic-coding`]: 0.8, [`${NEW}/language`]: 0.2 }),
  model('a/writer', { [`${NEW}/coding`]: 0.3, [`${NEW}/agentic-coding`]: 0.1, [`${NEW}/language`]: 0.9 }),
  model('a/middle', { [`${NEW}/coding`]: 0.5, [`${NEW}/agentic-coding`]: 0.5, [`${NEW}/language`]: 0.5 }),
  model('a/old', { [`${OLD}/coding`]: 0.99, [`${OLD}/agentic-coding`]: 0.99, [`${OLD}/global-average`]: 0.9 }),
  model('a/older', { [`${OLD}/coding`]: 0.1, [`${OLD}/agentic-coding`]: 0.1, [`${OLD}/global-average`]: 0.1 }),
];

suite('rankings', () => {
  const rankings = createRankings(MODELS);

  test('ranks a model by the task that it is good at', () => {
    assert.equal(rankings.priorOf('a/coder', 'code:general_impl'), 1);
    assert.equal(rankings.priorOf('a/middle', 'code:general_impl'), 0.5);
    assert.equal(rankings.priorOf('a/writer', 'code:general_impl'), 0);
    assert.equal(rankings.priorOf('a/writer', 'translation'), 1);
  });

  test('a model that only an older release tested is placed in that release', () => {
    assert.equal(rankings.priorOf('a/old', 'code:debugging'), 1);
    assert.equal(rankings.priorOf('a/older', 'code:debugging'), 0);
    assert.equal(rankings.priorOf('a/old', 'translation'), 1, 'by its average, where nothing else was measured');
  });

  test('does not rank an untested model, not even as the worst', () => {
    assert.equal(rankings.priorOf('a/unknown', 'math'), undefined);
  });

  // @spec router-10
  test('has a recipe for every tag whose weights add up to one', () => {
    for (const tag of TASK_TAGS) {
      const sum = Object.values(recipeOf(tag)).reduce((total, weight) => total + weight, 0);
      assert.ok(Math.abs(sum - 1) < 1e-9, tag);
    }
  });

  test('own traffic counts the more the more there is of it', () => {
    assert.equal(blend(0.4, 1, 0), 0.4);
    assert.equal(blend(0.4, 1, 200), 0.7);
    assert.ok(blend(0.4, 1, 100_000) > 0.99);
    assert.equal(blend(undefined, 0.5, 200), 0.25);
  });
});

suite('what an operator says of a model', () => {
  const at = (slug: string, score: number): TestedModel => ({
    slug,
    scores: ['coding', 'agentic-coding', 'global-average'].map((name) => ({
      metric: `livebench-2026-06-25/${name}`,
      score,
    })),
  });
  const rankings = createRankings([at('a/one', 0.2), at('a/two', 0.4), at('a/three', 0.6), at('a/four', 0.8)]);

  test('is placed among all that were tested', () => {
    assert.equal(rankings.placeOwn({ coding: 0.5 }, 'code:debugging'), 0.5);
    assert.equal(rankings.placeOwn({ coding: 0.9 }, 'code:debugging'), 1);
    assert.equal(rankings.placeOwn({ coding: 0.1 }, 'code:debugging'), 0);
  });

  test('counts for what it is nearest to, and else for everything', () => {
    const own = { coding: 0.9, intelligence: 0.3 };
    assert.equal(rankings.placeOwn(own, 'code:sql_database'), 1);
    assert.equal(rankings.placeOwn(own, 'translation'), 0.25);
    assert.equal(rankings.placeOwn({ coding: 0.9 }, 'translation'), 1);
  });

  test('is nothing without data, and the share itself without test results', () => {
    assert.equal(rankings.placeOwn({}, 'math'), undefined);
    assert.equal(createRankings([]).placeOwn({ intelligence: 0.7 }, 'math'), 0.7);
  });
});
