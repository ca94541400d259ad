import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { FieldModel, RouterSettings } from '../../canonical/model-choice.ts';
import { findCandidates, inOrder, priceOf, type Candidates } from './candidates.ts';
import { fieldModel, requestOf, user } from './test-candidates.ts';

const FIELD = [
  fieldModel('a/small', 0.2),
  fieldModel('a/middle', 1),
  fieldModel('a/large', 10),
  fieldModel('a/old', 4),
];
const QUALITIES: Readonly<Record<string, number>> = { 'a/small': 0.4, 'a/middle': 0.7, 'a/large': 0.95, 'a/old': 0.3 };

interface Given {
  readonly models?: readonly string[];
  readonly field?: readonly FieldModel[];
  readonly qualities?: Readonly<Record<string, number>>;
  readonly settings?: Pick<RouterSettings, 'efficientModel' | 'capableModel'>;
}

function find({ models = [], field = FIELD, qualities = QUALITIES, settings = {} }: Given): Candidates | undefined {
  return findCandidates({
    request: requestOf([user('hi')], models),
    field,
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

suite('who stands for which tier', () => {
  test('of all that may answer, the best and the cheapest', () => {
    assert.deepEqual(pairOf(find({})), ['a/large', 'a/small']);
  });

  test('of the models that the request lists, whatever else there is', () => {
    const found = find({ models: ['a/old', 'a/middle'] });
    assert.deepEqual(pairOf(found), ['a/middle', 'a/middle']);
    assert.deepEqual(pairOf(find({ models: ['a/middle', '~a/large-latest:nitro'] })), ['a/large', 'a/middle']);
  });

  test('listed models keep the caller’s spelling', () => {
    const found = find({ models: ['a/middle', '~a/large-latest:nitro'] });
    assert.equal(found?.spell(found.capable), '~a/large-latest:nitro');
  });

  test('of the operator’s pair, where the request lists nobody', () => {
    const settings = { efficientModel: 'a/middle', capableModel: '~a/large-latest' };
    assert.deepEqual(pairOf(find({ settings })), ['a/large', 'a/middle']);
    assert.deepEqual(pairOf(find({ settings, models: ['a/small', 'a/old'] })), ['a/small', 'a/small']);
  });

  test('one model of the operator’s takes its tier, and the ranking fills the other', () => {
    assert.deepEqual(pairOf(find({ settings: { capableModel: 'a/middle' } })), ['a/middle', 'a/small']);
  });

  test('a pair of which one may not answer is filled from the ranking', () => {
    const settings = { efficientModel: 'b/gone', capableModel: 'a/middle' };
    assert.deepEqual(pairOf(find({ settings })), ['a/middle', 'a/small']);
  });

  test('where nobody was tested, the dearest and the cheapest', () => {
    assert.deepEqual(pairOf(find({ qualities: {} })), ['a/large', 'a/small']);
  });

  test('models of one price are no two tiers', () => {
    const field = [fieldModel('a/one', 1), fieldModel('a/two', 1)];
    const found = find({ field, qualities: { 'a/one': 0.2, 'a/two': 0.9 } });
    assert.deepEqual(pairOf(found), ['a/two', 'a/two']);
  });

  test('nobody, where nobody may answer', () => {
    assert.equal(find({ field: [] }), undefined);
    assert.equal(find({ models: ['b/gone'] }), undefined);
  });

  test('of a large catalog the cheapest is one of the twenty best', () => {
    const field = Array.from({ length: 100 }, (_, at) => fieldModel(`a/m${at}`, at + 1));
    const qualities = Object.fromEntries(field.map(({ slug }, at) => [slug, at / 100]));
    assert.deepEqual(pairOf(find({ field, qualities })), ['a/m99', 'a/m80']);
  });

  test('nobody is better than the capable one, and nobody cheaper than the efficient one, of those that are ranked', () => {
    const models = fc.uniqueArray(
      fc.record({
        at: fc.nat(99),
        price: fc.integer({ min: 0, max: 20 }),
        quality: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      }),
      { minLength: 1, maxLength: 30, selector: ({ at }) => at },
    );
    fc.assert(
      fc.property(models, (drawn) => {
        const field = drawn.map(({ at, price }) => fieldModel(`a/m${at}`, price));
        const qualities: Record<string, number> = {};
        for (const { at, quality } of drawn) if (quality !== null) qualities[`a/m${at}`] = quality;
        const found = find({ field, qualities });
        assert.ok(found !== undefined);
        const { ranked, capable, efficient } = found;
        const qualityOf = ({ slug }: FieldModel): number => qualities[slug] ?? -1;
        assert.ok(ranked.every((model) => qualityOf(model) <= qualityOf(capable)));
        assert.ok(ranked.every((model) => priceOf(model) >= priceOf(efficient)));
      }),
      { seed: 20_261_122 },
    );
  });
});

suite('the order in which models are tried', () => {
  test('the efficient one falls back to the capable one', () => {
    const found = find({});
    assert.ok(found !== undefined);
    const slugs = (tier: 'capable' | 'efficient'): readonly string[] => inOrder(found, tier).map(({ slug }) => slug);
    assert.deepEqual(slugs('efficient'), ['a/small', 'a/large', 'a/middle', 'a/old']);
    assert.deepEqual(slugs('capable'), ['a/large', 'a/middle', 'a/small', 'a/old']);
  });
});
