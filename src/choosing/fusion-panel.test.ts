import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FusionPreset } from '../canonical/fusion.ts';
import type { FieldModel } from '../canonical/model-choice.ts';
import { choosePanel, FUSION_PRESETS_DEFAULT, type PanelField } from './fusion-panel.ts';

const model = (slug: string, intelligence?: number, price = 1): FieldModel => ({
  slug,
  name: slug,
  promptPrice: price,
  completionPrice: price,
  isFree: false,
  scores: new Map(),
  ...(intelligence !== undefined && { intelligence }),
  throughput: () => undefined,
});

function field(models: readonly FieldModel[], more: Partial<PanelField> = {}): PanelField {
  const slugs = new Set(models.map(({ slug }) => slug));
  return { models, leftOut: [], resolve: (slug) => (slugs.has(slug) ? slug : undefined), ...more };
}

const preset = (panel: FusionPreset['panel'], analyst: FusionPreset['analyst'] = ['a/none']): FusionPreset => ({
  panel,
  analyst,
});

test('each place goes to the first of its alternatives that can be asked', () => {
  const chosen = choosePanel(
    'general-high',
    preset(
      [
        ['a/none', 'a/one'],
        ['a/two', 'a/one'],
      ],
      ['a/none', 'a/two'],
    ),
    field([model('a/one'), model('a/two')]),
  );
  assert.deepEqual(chosen, { panel: ['a/one', 'a/two'], analyst: 'a/two' });
});

test('an alias takes a place as the model that it stands for', () => {
  const resolve = (slug: string): string | undefined => (slug.startsWith('~') ? 'a/one' : undefined);
  const chosen = choosePanel(
    'general-high',
    preset([['~a/x-latest']], ['~a/y-latest']),
    field([model('a/one')], { resolve }),
  );
  assert.deepEqual(chosen, { panel: ['a/one'], analyst: 'a/one' });
});

test('how an alternative is to be asked for stays with it, and makes it no other model', () => {
  const resolve = (slug: string): string | undefined => (slug.startsWith('b/') ? 'b/two:free' : 'a/one');
  const wanted = preset([['~a/x-latest:nitro'], ['a/one'], ['b/two:free']]);
  assert.deepEqual(choosePanel('general-high', wanted, field([], { resolve })).panel, ['a/one:nitro', 'b/two:free']);
});

test('nobody takes two places; what is left goes to the strongest of the others', () => {
  const models = [model('a/one', 0.2), model('a/weak', 0.1), model('a/strong', 0.9), model('a/untested')];
  const chosen = choosePanel('general-high', preset([['a/one'], ['a/one'], ['a/none']]), field(models));
  assert.deepEqual(chosen.panel, ['a/one', 'a/strong', 'a/weak']);
  assert.equal(chosen.analyst, 'a/strong');
});

test('a place of a cheaper preset goes to the strongest of the cheaper half', () => {
  const models = [model('a/dear', 0.9, 9), model('a/fair', 0.5, 2), model('a/cheap', 0.4, 1), model('a/big', 0.8, 8)];
  for (const name of ['general-budget', 'general-fast'] as const)
    assert.deepEqual(choosePanel(name, preset([['a/none']]), field(models)).panel, ['a/fair'], name);
});

test('an empty place goes to an alternative of another before anybody else', () => {
  const models = [model('a/one', 0.5), model('b/strong', 0.9), model('c/spare', 0.1)];
  const chosen = choosePanel('general-high', preset([['a/one', 'c/spare'], ['a/none']]), field(models));
  assert.deepEqual(chosen.panel, ['a/one', 'c/spare']);
});

test('an author who has no place yet comes before one who has', () => {
  const models = [model('a/one', 0.9), model('a/two', 0.8), model('b/weak', 0.1), model('a/three', 0.7)];
  const chosen = choosePanel('general-high', preset([['a/one'], ['a/none'], ['a/none']]), field(models));
  assert.deepEqual(chosen.panel, ['a/one', 'b/weak', 'a/two']);
});

test('of models that nobody tested the newest is taken for the strongest', () => {
  const models = ['2024-01', '2026-03', '2025-07'].map((released) => ({ ...model(`a/${released}`), released }));
  assert.deepEqual(choosePanel('general-high', preset([['a/none'], ['a/none']]), field(models)).panel, [
    'a/2026-03',
    'a/2025-07',
  ]);
});

test('a cheaper preset takes dear models where there are no others, the cheapest of them first', () => {
  const models = [model('a/dear', 0.9, 9), model('a/cheap', 0.1, 1), model('a/dearer', 0.95, 10)];
  const wanted = preset([['a/none'], ['a/none'], ['a/none']]);
  // Of three the cheaper two are the cheaper half.
  assert.deepEqual(choosePanel('general-fast', wanted, field(models)).panel, ['a/dear', 'a/cheap', 'a/dearer']);
});

test('a panel is as small as there are models, down to nobody', () => {
  const wanted = preset([['a/x'], ['a/y'], ['a/z']]);
  assert.deepEqual(choosePanel('general-high', wanted, field([model('a/one')])).panel, ['a/one']);
  assert.deepEqual(choosePanel('general-high', wanted, field([])), { panel: [], analyst: undefined });
});

test('who may not be asked takes no place; who is only never chosen unasked does', () => {
  const known = ['a/blocked', 'a/unpriced', 'sandbox/echo'];
  const leftOut = [
    { slug: 'a/blocked', reason: 'guardrail:models' },
    { slug: 'a/unpriced', reason: 'price_unknown' },
  ];
  const resolve = (slug: string): string | undefined => (known.includes(slug) ? slug : undefined);
  const chosen = choosePanel('general-high', preset(known.map((slug) => [slug])), field([], { leftOut, resolve }));
  assert.deepEqual(chosen.panel, ['a/unpriced', 'sandbox/echo']);
});

test('the usual presets hold three places each, with alternatives that nobody else has first', () => {
  for (const [name, { panel, analyst }] of Object.entries(FUSION_PRESETS_DEFAULT)) {
    assert.equal(panel.length, 3, name);
    const all = panel.flat();
    assert.equal(new Set(all).size, all.length, `${name} names nobody twice`);
    assert.ok(analyst.length > 1, name);
  }
});
