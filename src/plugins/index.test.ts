import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import type { Plugin } from './contract.ts';
import { PLUGINS, pluginSchema, SLUG_ROUTERS } from './index.ts';

const REGISTERED: readonly (readonly [string, Plugin])[] = Object.entries(PLUGINS);

// @spec plugin-2
test('lists the ids of the specification, in the order in which plugins run', () => {
  assert.deepEqual(Object.keys(PLUGINS), [
    'moderation',
    'auto-router',
    'auto-beta-router',
    'pareto-router',
    'switchyard-router',
    'fusion',
    'file-parser',
    'web',
    'web-fetch',
    'context-compression',
    'response-healing',
  ]);
});

test('registers every folder, and has a folder for every registered plugin', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(
    folders.map((entry) => entry.name).toSorted(),
    Object.keys({ ...PLUGINS, ...SLUG_ROUTERS }).toSorted(),
  );
});

for (const [id, plugin] of REGISTERED) {
  test(`registers ${id} under its own id`, () => {
    assert.equal(plugin.id, id);
  });

  test(`has at least one hook: ${id}`, () => {
    assert.ok(['chooseModels', 'transformRequest', 'fitRequest', 'transformEvents'].some((hook) => hook in plugin));
  });

  test(`leaves 'id' and 'enabled' of ${id} to the entry`, () => {
    assert.ok(!('id' in plugin.options.shape) && !('enabled' in plugin.options.shape));
  });

  // @spec plugin-1
  test(`enables ${id} by its name, without any option`, () => {
    assert.deepEqual(pluginSchema.parse({ id }), { id, enabled: true, options: {} });
    assert.deepEqual(pluginSchema.parse({ id, enabled: true }), { id, enabled: true, options: {} });
  });

  // @spec plugin-1
  test(`disables ${id} by 'enabled: false'`, () => {
    assert.equal(pluginSchema.parse({ id, enabled: false }).enabled, false);
  });

  // @spec plugin-3
  test(`ignores an unknown member of ${id}, but not a wrong 'enabled'`, () => {
    assert.deepEqual(pluginSchema.parse({ id, surprise: 1 }).options, {});
    for (const enabled of [null, 'false', 0]) assert.equal(pluginSchema.safeParse({ id, enabled }).success, false);
  });

  test(`takes or refuses any JSON as the options of ${id}, and fills in no default`, () => {
    const member = fc.constantFrom('surprise', ...Object.keys(plugin.options.shape));
    fc.assert(
      fc.property(fc.dictionary(member, fc.jsonValue()), (options) => {
        const result = pluginSchema.safeParse({ ...options, id });
        if (!result.success) return;
        for (const name of Object.keys(result.data.options)) assert.ok(name in options && name !== 'surprise');
      }),
    );
  });
}

// @spec plugin-2
test('reports an unknown id at the id, with the known ones', () => {
  for (const id of ['webb', '', 3, null, undefined]) {
    const result = z.array(pluginSchema).safeParse([{ id: 'web' }, { id }]);
    const [issue] = result.error?.issues ?? [];
    assert.deepEqual(issue?.path, [1, 'id']);
    assert.deepEqual(issue !== undefined && 'options' in issue && issue.options, Object.keys(PLUGINS));
  }
});

// @spec plugin-3
test('reports a wrong option at that option', () => {
  const result = z.array(pluginSchema).safeParse([{ id: 'fusion', tools: [{ type: 'service:web_search' }, {}] }]);
  assert.deepEqual(
    result.error?.issues.map(({ path }) => path),
    [[0, 'tools', 1, 'type']],
  );
});

test('makes a schema to publish, with one variant a plugin', () => {
  const published = z.toJSONSchema(pluginSchema, { io: 'input' });
  assert.equal(published.oneOf?.length, REGISTERED.length);
});
