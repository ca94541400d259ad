import assert from 'node:assert/strict';
import test from 'node:test';
import { autoBetaRouterOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { allowed_models: ['anthropic/*', 'openai/gpt-5*', '*/claude-*'], excluded_models: ['a/b'] },
  { allowed_models: [], excluded_models: [] },
  { allowed_models: Array.from({ length: 1024 }, () => 'a/*') },
  { excluded_models: ['x'.repeat(1024)] },
  { allowed_models: Array.from({ length: 64 }, () => 'x'.repeat(1024)) },
  { cost_tier: 'low' },
  { cost_tier: 'max' },
  { cost_quality_tradeoff: 0 },
  { cost_quality_tradeoff: 10, cost_tier: 'xhigh' },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ allowed_models: Array.from({ length: 1025 }, () => 'a') }, 'allowed_models'],
  [{ allowed_models: ['a', 'x'.repeat(1025)] }, 'allowed_models.1'],
  [{ allowed_models: [...Array.from({ length: 64 }, () => 'x'.repeat(1024)), 'y'] }, 'allowed_models'],
  [{ excluded_models: Array.from({ length: 1025 }, () => 'a') }, 'excluded_models'],
  [{ excluded_models: ['x'.repeat(1025)] }, 'excluded_models.0'],
  [{ excluded_models: Array.from({ length: 65 }, () => 'x'.repeat(1024)) }, 'excluded_models'],
  [{ allowed_models: 'a/*' }, 'allowed_models'],
  [{ allowed_models: null }, 'allowed_models'],
  [{ allowed_models: [7] }, 'allowed_models.0'],
  [{ cost_tier: 'cheap' }, 'cost_tier'],
  [{ cost_tier: null }, 'cost_tier'],
  [{ cost_quality_tradeoff: -1 }, 'cost_quality_tradeoff'],
  [{ cost_quality_tradeoff: 11 }, 'cost_quality_tradeoff'],
  [{ cost_quality_tradeoff: 5.5 }, 'cost_quality_tradeoff'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(autoBetaRouterOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = autoBetaRouterOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
