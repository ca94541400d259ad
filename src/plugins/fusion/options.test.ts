import assert from 'node:assert/strict';
import test from 'node:test';
import { fusionOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { analysis_models: ['a/b'], model: 'c/d', max_tool_calls: 1, preset: 'general-high' },
  { analysis_models: Array.from({ length: 8 }, (_, index) => `m/${index}`), max_tool_calls: 16 },
  { preset: 'general-budget', tools: [] },
  {
    preset: 'general-fast',
    tools: [{ type: 'service:web_search', parameters: { max_results: 3, deep: { a: [null] } } }],
  },
  { tools: Array.from({ length: 8 }, () => ({ type: 'service:web_fetch' })) },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ analysis_models: [] }, 'analysis_models'],
  [{ analysis_models: Array.from({ length: 9 }, () => 'm') }, 'analysis_models'],
  [{ analysis_models: [''] }, 'analysis_models.0'],
  [{ model: null }, 'model'],
  [{ max_tool_calls: 0 }, 'max_tool_calls'],
  [{ max_tool_calls: 17 }, 'max_tool_calls'],
  [{ max_tool_calls: 1.5 }, 'max_tool_calls'],
  [{ preset: 'general' }, 'preset'],
  [{ tools: Array.from({ length: 9 }, () => ({ type: 'service:web_fetch' })) }, 'tools'],
  [{ tools: [{}] }, 'tools.0.type'],
  [{ tools: [{ type: 'service:web_fetch', parameters: 'none' }] }, 'tools.0.parameters'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(fusionOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = fusionOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
