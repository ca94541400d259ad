import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { codingScoresOf } from './coding-scores.ts';
import type { TestedModel } from '../../canonical/model-choice.ts';

type Figures = Readonly<Record<string, number>>;

function tested(slug: string, figures: Figures): TestedModel {
  return { slug, scores: Object.entries(figures).map(([metric, score]) => ({ metric, score })) };
}

const newest = (coding: number, agentic = coding): Figures => ({
  'livebench-2026-06-25/coding': coding,
  'livebench-2026-06-25/agentic-coding': agentic,
});
const older = (coding: number): Figures => ({
  'livebench-2026-01-08/coding': coding,
  'livebench-2026-01-08/agentic-coding': coding,
});

suite('coding scores on one scale', () => {
  test('the newest release gives the mean of its two tests, of the best variant', () => {
    const model: TestedModel = {
      slug: 'a',
      scores: [
        { metric: 'livebench-2026-06-25/coding', score: 0.6 },
        { metric: 'livebench-2026-06-25/coding', score: 0.8 },
        { metric: 'livebench-2026-06-25/agentic-coding', score: 0.5 },
      ],
    };
    assert.equal(codingScoresOf([model]).get('a'), 0.65);
  });

  test('the operator’s own word counts before any release', () => {
    assert.equal(codingScoresOf([tested('a', { ...newest(0.9), coding: 0.3 })]).get('a'), 0.3);
  });

  test('a model that only the older release tested gets the score of its place', () => {
    const scores = codingScoresOf([
      tested('worst', { ...newest(0.4), ...older(0.6) }),
      tested('middle', older(0.7)),
      tested('best', { ...newest(0.7), ...older(0.8) }),
    ]);
    assert.equal(scores.get('middle')?.toFixed(3), '0.550');
  });

  test('scores no model that was not tested in both parts', () => {
    const scores = codingScoresOf([tested('a', { 'livebench-2026-06-25/coding': 0.9 }), tested('b', {})]);
    assert.equal(scores.size, 0);
  });

  test('places of the older release stay in their order, within the scale of the newest', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1 }), fc.array(unit, { minLength: 2 }), (scale, old) => {
        const models = [
          ...scale.map((score, at) => tested(`n${at}`, newest(score))),
          ...old.map((score, at) => tested(`o${at}`, older(score))),
        ];
        const scores = codingScoresOf(models);
        const placed = old.map((score, at) => ({ score, given: scores.get(`o${at}`) ?? Number.NaN }));
        for (const { given } of placed)
          assert.ok(given >= Math.min(...scale) - 1e-12 && given <= Math.max(...scale) + 1e-12);
        for (const one of placed)
          for (const other of placed) if (one.score < other.score) assert.ok(one.given <= other.given + 1e-12);
      }),
      { seed: 20_261_122 },
    );
  });
});
