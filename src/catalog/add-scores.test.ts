import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addScores, NO_OWN_SCORES } from './add-scores.ts';
import type { Model } from './model.ts';
import { abilityOf } from './scores.ts';

const model = (slug: string, scores: Model['scores'] = []): Model => ({ slug, name: slug, endpoints: [], scores });
const own = new Map([
  [
    'acme/one',
    [
      { metric: 'local/q@1', score: 0.5 },
      { metric: 'local/r@1', score: 0.7 },
    ],
  ],
  ['acme/two', [{ metric: 'local/q@1', score: 0.9 }]],
]);

// @spec evaluation-16
test('goes by own scores only where the configuration names them', () => {
  const models = [model('acme/one'), model('acme/two')];
  const unnamed = addScores(models, { ...NO_OWN_SCORES, scores: own });
  assert.deepEqual(
    unnamed.map((one) => [one.scores?.length, abilityOf(one, 'coding')]),
    [
      [2, undefined],
      [1, undefined],
    ],
  );
  const abilities = { ...NO_OWN_SCORES.abilities, coding: ['local/q@1', 'local/r@1'] };
  const named = addScores(models, { scores: own, abilities });
  assert.deepEqual(
    named.map((one) => abilityOf(one, 'coding')),
    [0.6, undefined],
  );
});

test('leaves what the configuration says of a model as it is', () => {
  const abilities = { ...NO_OWN_SCORES.abilities, coding: ['local/q@1'] };
  const [one] = addScores([model('acme/one', [{ metric: 'coding', score: 0.1 }])], { scores: own, abilities });
  assert.equal(one && abilityOf(one, 'coding'), 0.1);
});

test('changes nothing where there is nothing to add', () => {
  const models = [model('acme/one')];
  assert.equal(addScores(models, NO_OWN_SCORES), models);
});
