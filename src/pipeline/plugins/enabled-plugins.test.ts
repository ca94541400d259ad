import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { DefaultPlugin, PluginRequest } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Plugin } from '../../plugins/contract.ts';
import { enablePlugins } from './enabled-plugins.ts';

const options = z.object({ level: z.int().default(1) });
const unchanged: NonNullable<Plugin['transformRequest']> = (request) => Promise.resolve(request);
const REGISTRY: readonly Plugin[] = [
  { id: 'first', summary: 'Of a test.', options, transformRequest: unchanged },
  { id: 'router', summary: 'Of a test.', options, slugs: ['service/pick'], chooseModels: () => Promise.resolve([]) },
  { id: 'always', summary: 'Of a test.', options, unrequested: true, transformRequest: unchanged },
  { id: 'last', summary: 'Of a test.', options, variant: 'suffix', transformRequest: unchanged },
];

const entry = (id: string, enabled = true, level?: number): PluginRequest => ({
  id,
  enabled,
  options: level === undefined ? {} : { level },
});
const byDefault = (id: string, preventOverrides = false, enabled = true, level = 7): DefaultPlugin => ({
  ...entry(id, enabled, level),
  preventOverrides,
});

function run(
  plugins: readonly PluginRequest[],
  defaults: readonly (readonly DefaultPlugin[])[] = [],
  models = ['a/b'],
  variants: readonly string[] = [],
) {
  const found = enablePlugins(REGISTRY, { plugins, models }, defaults, new Set(variants));
  return {
    ran: found.plugins.map((one) => [one.plugin.id, one.options['level'], one.isRequested]),
    warned: found.warnings.map(({ path }) => path),
  };
}

const ALWAYS = ['always', 1, false];

test('runs only the unrequested plugins for a request that names none', () => {
  assert.deepEqual(run([]), { ran: [ALWAYS], warned: [] });
  assert.deepEqual(run([entry('always', false)]).ran, []);
});

// @spec plugin-5
test('plugins run in the order of the registry, with options as their own schema gives them', () => {
  assert.deepEqual(run([entry('last', true, 3), entry('always'), entry('first')]).ran, [
    ['first', 1, true],
    ['always', 1, true],
    ['last', 3, true],
  ]);
});

test('prefers the request to its key, and the key to its workspace', () => {
  const [key, workspace] = [[byDefault('first', false, true, 5)], [byDefault('first'), byDefault('last')]];
  assert.deepEqual(run([entry('first', true, 2)], [key, workspace]).ran, [
    ['first', 2, true],
    ALWAYS,
    ['last', 7, true],
  ]);
  assert.deepEqual(run([], [key, workspace]).ran, [['first', 5, true], ALWAYS, ['last', 7, true]]);
  assert.deepEqual(run([entry('first', false), entry('last', false)], [key, workspace]).ran, [ALWAYS]);
});

// @spec plugin-6
test('options of a request replace those of the account, they are not merged', () => {
  assert.deepEqual(run([entry('first')], [[byDefault('first')]]).ran[0], ['first', 1, true]);
});

// @spec plugin-7
test('applies a rule that prevents overrides before the request, with a warning, and the workspace before the key', () => {
  const bound = [byDefault('first', true)];
  assert.deepEqual(run([entry('last'), entry('first', false)], [[], bound]), {
    ran: [['first', 7, true], ALWAYS, ['last', 1, true]],
    warned: ['plugins[1]'],
  });
  assert.deepEqual(run([], [[byDefault('first', true, false)], bound]).ran[0], ['first', 7, true]);
  assert.deepEqual(run([entry('first')], [[byDefault('first', true, false)], [byDefault('first')]]), {
    ran: [ALWAYS],
    warned: ['plugins[0]'],
  });
});

test('runs the plugin of a slug that stands for a choice, listed or not', () => {
  for (const slug of ['service/pick', 'service/pick:nitro']) {
    assert.deepEqual(run([], [], ['a/b', slug]).ran, [['router', 1, false], ALWAYS]);
    assert.deepEqual(run([entry('router', true, 4)], [], [slug]).ran[0], ['router', 4, true]);
  }
  assert.deepEqual(run([], [], ['service/picky']).ran, [ALWAYS]);
});

test('resolves the slug of a disabled plugin to a model, and runs nothing else of the plugin', () => {
  const { plugins } = enablePlugins(
    REGISTRY,
    { plugins: [entry('router', false, 4)], models: ['service/pick'] },
    [],
    new Set(),
  );
  const [router] = plugins;
  assert.deepEqual([router?.plugin.id, router?.options['level'], router?.onlyChooses], ['router', 4, true]);
  assert.deepEqual(run([entry('router', false)]).ran, [ALWAYS]);
});

function refusal(act: () => unknown): readonly [number | undefined, string | undefined] {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return [error.status, error.issues?.[0]?.path];
  }
  return [undefined, undefined];
}

test('ignores stored options that the plugin does not take any more', () => {
  const stored = [{ ...byDefault('first'), options: { level: 'high' } }];
  assert.deepEqual(
    refusal(() => run([], [stored])),
    [400, 'plugins'],
  );
});

test('enables a plugin by a suffix behind a slug, unless the request or a mandatory default refuses it', () => {
  const suffix = ['suffix', 'other'];
  const ran = (...requested: Parameters<typeof run>) => run(...requested).ran.filter(([id]) => id === 'last');
  assert.deepEqual(ran([], [], ['a/b'], suffix), [['last', 1, true]]);
  assert.deepEqual(ran([], [], ['a/b'], ['other']), []);
  assert.deepEqual(ran([entry('last', false)], [], ['a/b'], suffix), []);
  assert.deepEqual(ran([entry('last', true, 3)], [], ['a/b'], suffix), [['last', 3, true]]);
  assert.deepEqual(ran([], [[byDefault('last', false, false)]], ['a/b'], suffix), [['last', 7, true]]);
  assert.deepEqual(ran([], [[byDefault('last', true, false)]], ['a/b'], suffix), []);
});
