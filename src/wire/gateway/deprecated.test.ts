import assert from 'node:assert/strict';
import test from 'node:test';
import { deprecationWarnings } from './deprecated.ts';

test('warns of nothing in a request with current names', () => {
  const plugins = [{ id: 'auto-router', enabled: true, options: { cost_tier: 'low' } }];
  assert.deepEqual(deprecationWarnings({ models: ['a/b'], plugins, route: null, transforms: null }), []);
});

// @spec request-17
test('warns once of each older name and each member without effect, at its path', () => {
  const router = { id: 'auto-router', enabled: true, options: { cost_quality_tradeoff: 9 } };
  const warnings = deprecationWarnings({
    route: 'fallback',
    transforms: [],
    usage: { include: true },
    n: 3,
    x_search_filter: {},
    plugins: [{ id: 'web', enabled: false, options: {} }, router],
  });
  assert.deepEqual(
    warnings.map(({ path, code }) => [path, code]),
    [
      ['route', 'field-changed'],
      ['transforms', 'field-changed'],
      ['usage', 'field-dropped'],
      ['n', 'field-dropped'],
      ['x_search_filter', 'field-dropped'],
      ['plugins[1].cost_quality_tradeoff', 'field-changed'],
    ],
  );
  for (const { message } of warnings) assert.match(message, /^(is|has) /);
});

test('does not warn of the filter of posts beside the plugin that searches', () => {
  const plugins = [{ id: 'web', enabled: true, options: {} }];
  assert.deepEqual(deprecationWarnings({ x_search_filter: {}, plugins }), []);
});
