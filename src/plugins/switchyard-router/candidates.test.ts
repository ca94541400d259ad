import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { CandidateModel, RouterSettings } from '../../canonical/model-choice.ts';
import { findCandidates, inOrder, priceOf, type Candidates } from './candidates.ts';
import { candidateModel, requestOf, user } from '../../../tests/support/plugins/switchyard-candidates.ts';

const POOL = [
  candidateModel('a/small', 0.2),
  candidateModel('a/middle', 1),
  candidateModel('a/large', 10),
  candidateModel('a/old', 4),
];
const QUALITIES: Readonly<Record<string, number>> = { 'a/small': 0.4, 'a/middle': 0.7, 'a/large': 0.95, 'a/old': 0.3 };

interface Given {
  readonly models?: readonly string[];
  readonly pool?: readonly CandidateModel[];
  readonly qualities?: Readonly<Record<string, number>>;
  readonly settings?: Pick<RouterSettings, 'efficientModel' | 'capableModel'>;
}

function find({ models = [], pool = POOL, qualities = QUALITIES, settings = {} }: Given): Candidates | undefined {
  return findCandidates({
    request: requestOf([user('hi')], models),
    pool,
    choice: {
      settings,
      resolve: (slug) => slug.replace('~a/large-latest', 'a/large').replace(/:nitro$/, ''),
      priorOf: (slug) => qualities[slug],
    },
    taskType: 'math',
    isOwn: (slug) => slug === 'service/switchyard',
  });
}

const pairOf = (found: Candidates | undefined): readonly (string | undefined)[] => [
  found?.capable.slug,
  found?.efficient.slug,
];

suite('the models of the tiers', () => {
  test('are the best and the cheapest of all candidates', () => {
    assert.deepEqual(pairOf(find({})), ['a/large', 'a/small']);
  });

  test('are from the models that the request lists, whatever other models there are', () => {
    const found = find({ models: ['a/old', 'a/middle'] });
    assert.deepEqual(pairOf(found), ['a/middle', 'a/middle']);
    assert.deepEqual(pairOf(find({ models: ['a/middle', '~a/large-latest:nitro'] })), ['a/large', 'a/middle']);
  });

  test('keep the caller’s spelling when they are listed', () => {
    const found = find({ models: ['a/middle', '~a/large-latest:nitro'] });
    assert.equal(found?.spell(found.capable), '~a/large-latest:nitro');
  });

  test('are the operator’s pair when the request lists none', () => {
    const settings = { efficientModel: 'a/middle', capableModel: '~a/large-latest' };
    assert.deepEqual(pairOf(find({ settings })), ['a/large', 'a/middle']);
    assert.deepEqual(pairOf(find({ settings, models: ['a/small', 'a/old'] })), ['a/small', 'a/small']);
  });

  test('take one model of the operator, and fill the other tier from the ranking', () => {
    assert.deepEqual(pairOf(find({ settings: { capableModel: 'a/middle' } })), ['a/middle', 'a/small']);
  });

  test('fill the place of an unavailable model of a pair from the ranking', () => {
    const settings = { efficientModel: 'b/gone', capableModel: 'a/middle' };
    assert.deepEqual(pairOf(find({ settings })), ['a/middle', 'a/small']);
  });

  test('are the dearest and the cheapest without test results', () => {
    assert.deepEqual(pairOf(find({ qualities: {} })), ['a/large', 'a/small']);
  });

  test('models of one price are no two tiers', () => {
    const pool = [candidateModel('a/one', 1), candidateModel('a/two', 1)];
    const found = find({ pool, qualities: { 'a/one': 0.2, 'a/two': 0.9 } });
    assert.deepEqual(pairOf(found), ['a/two', 'a/two']);
  });

  test('are absent without a candidate', () => {
    assert.equal(find({ pool: [] }), undefined);
    assert.equal(find({ models: ['b/gone'] }), undefined);
  });

  test('take one of the twenty best as the cheapest of a large catalog', () => {
    const pool = Array.from({ length: 100 }, (_, at) => candidateModel(`a/m${at}`, at + 1));
    const qualities = Object.fromEntries(pool.map(({ slug }, at) => [slug, at / 100]));
    assert.deepEqual(pairOf(find({ pool, qualities })), ['a/m99', 'a/m80']);
  });

  test('include none better than the capable one, and none cheaper than the efficient one, among the ranked', () => {
    const models = fc.uniqueArray(
      fc.record({
        at: fc.nat(99),
        price: fc.integer({ min: 0, max: 20 }),
        quality: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      }),
      { minLength: 1, maxLength: 30, selector: ({ at }) => at },
    );
    fc.assert(
      fc.property(models, (formatted) => {
        const pool = formatted.map(({ at, price }) => candidateModel(`a/m${at}`, price));
        const qualities: Record<string, number> = {};
        for (const { at, quality } of formatted) if (quality !== null) qualities[`a/m${at}`] = quality;
        const found = find({ pool, qualities });
        assert.ok(found !== undefined);
        const { ranked, capable, efficient } = found;
        const qualityOf = ({ slug }: CandidateModel): number => qualities[slug] ?? -1;
        assert.ok(ranked.every((model) => qualityOf(model) <= qualityOf(capable)));
        assert.ok(ranked.every((model) => priceOf(model) >= priceOf(efficient)));
      }),
      { seed: 20_261_122 },
    );
  });
});

suite('the order in which models are tried', () => {
  test('fall back from the efficient one to the capable one', () => {
    const found = find({});
    assert.ok(found !== undefined);
    const slugs = (tier: 'capable' | 'efficient'): readonly string[] => inOrder(found, tier).map(({ slug }) => slug);
    assert.deepEqual(slugs('efficient'), ['a/small', 'a/large', 'a/middle', 'a/old']);
    assert.deepEqual(slugs('capable'), ['a/large', 'a/middle', 'a/small', 'a/old']);
  });
});
