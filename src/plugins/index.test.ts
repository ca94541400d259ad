import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import test from 'node:test';
import * as fc from 'fast-check';
import { z } from 'zod';
import type { Plugin } from './contract.ts';
import { PLUGINS, pluginSchema, SLUG_ROUTERS } from './index.ts';

const REGISTERED: readonly (readonly [string, Plugin])[] = Object.entries(PLUGINS);

// @spec plugin-2
test('the ids are those of the specification, in the order in which plugins run', () => {
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

test('every folder is registered, and every registered plugin has its folder', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(
    folders.map((entry) => entry.name).toSorted(),
    Object.keys({ ...PLUGINS, ...SLUG_ROUTERS }).toSorted(),
  );
});

for (const [id, plugin] of REGISTERED) {
  test(`${id}: stands under its own id`, () => {
    assert.equal(plugin.id, id);
  });

  test(`has at least one hook: ${id}`, () => {
    assert.ok(['chooseModels', 'transformRequest', 'fitRequest', 'transformEvents'].some((hook) => hook in plugin));
  });

  test(`${id}: its options leave 'id' and 'enabled' to the entry`, () => {
    assert.ok(!('id' in plugin.options.shape) && !('enabled' in plugin.options.shape));
  });

  // @spec plugin-1
  test(`${id}: to name it is to enable it, without any option`, () => {
    assert.deepEqual(pluginSchema.parse({ id }), { id, enabled: true, options: {} });
    assert.deepEqual(pluginSchema.parse({ id, enabled: true }), { id, enabled: true, options: {} });
  });

  // @spec plugin-1
  test(`${id}: 'enabled: false' turns it off`, () => {
    assert.equal(pluginSchema.parse({ id, enabled: false }).enabled, false);
  });

  // @spec plugin-3
  test(`${id}: an unknown member is ignored, a wrong 'enabled' is not`, () => {
    assert.deepEqual(pluginSchema.parse({ id, surprise: 1 }).options, {});
    for (const enabled of [null, 'false', 0]) assert.equal(pluginSchema.safeParse({ id, enabled }).success, false);
  });

  test(`${id}: any JSON as its options is either taken or refused, and no default is put in`, () => {
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
test('an unknown id is an issue at the id that lists the known ones', () => {
  for (const id of ['webb', '', 3, null, undefined]) {
    const result = z.array(pluginSchema).safeParse([{ id: 'web' }, { id }]);
    const [issue] = result.error?.issues ?? [];
    assert.deepEqual(issue?.path, [1, 'id']);
    assert.deepEqual(issue !== undefined && 'options' in issue && issue.options, Object.keys(PLUGINS));
  }
});

// @spec plugin-3
test('a wrong option is an issue at that option', () => {
  const result = z.array(pluginSchema).safeParse([{ id: 'fusion', tools: [{ type: 'service:web_search' }, {}] }]);
  assert.deepEqual(
    result.error?.issues.map(({ path }) => path),
    [[0, 'tools', 1, 'type']],
  );
});

test('the schema can be published, one variant a plugin', () => {
  const published = z.toJSONSchema(pluginSchema, { io: 'input' });
  assert.equal(published.oneOf?.length, REGISTERED.length);
});
