import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FusionPreset } from '../canonical/tools/fusion.ts';
import type { CandidateModel } from '../canonical/model-choice.ts';
import { choosePanel, FUSION_PRESETS_DEFAULT, type PanelCandidates } from './fusion-panel.ts';

const model = (slug: string, intelligence?: number, price = 1): CandidateModel => ({
  slug,
  name: slug,
  promptPrice: price,
  completionPrice: price,
  isFree: false,
  scores: new Map(),
  ...(intelligence !== undefined && { intelligence }),
  throughput: () => undefined,
});

function pool(models: readonly CandidateModel[], more: Partial<PanelCandidates> = {}): PanelCandidates {
  const slugs = new Set(models.map(({ slug }) => slug));
  return { models, leftOut: [], resolve: (slug) => (slugs.has(slug) ? slug : undefined), ...more };
}

const preset = (panel: FusionPreset['panel'], analyst: FusionPreset['analyst'] = ['a/none']): FusionPreset => ({
  panel,
  analyst,
});

// @spec fusion-5
test('gives each place to the first available of its alternatives', () => {
  const chosen = choosePanel(
    'general-high',
    preset(
      [
        ['a/none', 'a/one'],
        ['a/two', 'a/one'],
      ],
      ['a/none', 'a/two'],
    ),
    pool([model('a/one'), model('a/two')]),
  );
  assert.deepEqual(chosen, { panel: ['a/one', 'a/two'], analyst: 'a/two' });
});

test('gives an alias the place of its model', () => {
  const resolve = (slug: string): string | undefined => (slug.startsWith('~') ? 'a/one' : undefined);
  const chosen = choosePanel(
    'general-high',
    preset([['~a/x-latest']], ['~a/y-latest']),
    pool([model('a/one')], { resolve }),
  );
  assert.deepEqual(chosen, { panel: ['a/one'], analyst: 'a/one' });
});

test('keeps the suffix of an alternative, which makes no difference between models', () => {
  const resolve = (slug: string): string | undefined => (slug.startsWith('b/') ? 'b/two:free' : 'a/one');
  const wanted = preset([['~a/x-latest:nitro'], ['a/one'], ['b/two:free']]);
  assert.deepEqual(choosePanel('general-high', wanted, pool([], { resolve })).panel, ['a/one:nitro', 'b/two:free']);
});

// @spec fusion-5
test('gives no model two places, and the rest to the strongest others', () => {
  const models = [model('a/one', 0.2), model('a/weak', 0.1), model('a/strong', 0.9), model('a/untested')];
  const chosen = choosePanel('general-high', preset([['a/one'], ['a/one'], ['a/none']]), pool(models));
  assert.deepEqual(chosen.panel, ['a/one', 'a/strong', 'a/weak']);
  assert.equal(chosen.analyst, 'a/strong');
});

test('gives a place of a cheaper preset to the strongest of the cheaper half', () => {
  const models = [model('a/dear', 0.9, 9), model('a/fair', 0.5, 2), model('a/cheap', 0.4, 1), model('a/big', 0.8, 8)];
  for (const name of ['general-budget', 'general-fast'] as const)
    assert.deepEqual(choosePanel(name, preset([['a/none']]), pool(models)).panel, ['a/fair'], name);
});

test('gives an empty place to an alternative of another place first', () => {
  const models = [model('a/one', 0.5), model('b/strong', 0.9), model('c/spare', 0.1)];
  const chosen = choosePanel('general-high', preset([['a/one', 'c/spare'], ['a/none']]), pool(models));
  assert.deepEqual(chosen.panel, ['a/one', 'c/spare']);
});

test('prefers authors without a place', () => {
  const models = [model('a/one', 0.9), model('a/two', 0.8), model('b/weak', 0.1), model('a/three', 0.7)];
  const chosen = choosePanel('general-high', preset([['a/one'], ['a/none'], ['a/none']]), pool(models));
  assert.deepEqual(chosen.panel, ['a/one', 'b/weak', 'a/two']);
});

test('takes the newest of untested models for the strongest', () => {
  const models = ['2024-01', '2026-03', '2025-07'].map((released) => ({ ...model(`a/${released}`), released }));
  assert.deepEqual(choosePanel('general-high', preset([['a/none'], ['a/none']]), pool(models)).panel, [
    'a/2026-03',
    'a/2025-07',
  ]);
});

test('takes expensive models for a cheaper preset where there are no others, the cheapest of them first', () => {
  const models = [model('a/dear', 0.9, 9), model('a/cheap', 0.1, 1), model('a/dearer', 0.95, 10)];
  const wanted = preset([['a/none'], ['a/none'], ['a/none']]);
  // Of three the cheaper two are the cheaper half.
  assert.deepEqual(choosePanel('general-fast', wanted, pool(models)).panel, ['a/dear', 'a/cheap', 'a/dearer']);
});

test('shrinks with the number of models, down to an empty panel', () => {
  const wanted = preset([['a/x'], ['a/y'], ['a/z']]);
  assert.deepEqual(choosePanel('general-high', wanted, pool([model('a/one')])).panel, ['a/one']);
  assert.deepEqual(choosePanel('general-high', wanted, pool([])), { panel: [], analyst: undefined });
});

test('excludes models that may not be used, and accepts those that are only never chosen by default', () => {
  const known = ['a/blocked', 'a/unpriced', 'sandbox/echo'];
  const leftOut = [
    { slug: 'a/blocked', reason: 'guardrail:models' },
    { slug: 'a/unpriced', reason: 'price_unknown' },
  ];
  const resolve = (slug: string): string | undefined => (known.includes(slug) ? slug : undefined);
  const chosen = choosePanel('general-high', preset(known.map((slug) => [slug])), pool([], { leftOut, resolve }));
  assert.deepEqual(chosen.panel, ['a/unpriced', 'sandbox/echo']);
});

test("has three places in each usual preset, with alternatives that are no other place's first choice", () => {
  for (const [name, { panel, analyst }] of Object.entries(FUSION_PRESETS_DEFAULT)) {
    assert.equal(panel.length, 3, name);
    const all = panel.flat();
    assert.equal(new Set(all).size, all.length, `${name} names nobody twice`);
    assert.ok(analyst.length > 1, name);
  }
});
