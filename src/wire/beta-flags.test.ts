import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedFlag, filterFlags, type BetaRules } from './beta-flags.ts';
import { createWarnings } from './gateway/warnings.ts';

function rules(given: Partial<{ allow: string[]; deny: string[]; rename: Record<string, string> }>): BetaRules {
  return {
    allow: new Set(given.allow ?? []),
    deny: new Set(given.deny ?? []),
    rename: new Map(Object.entries(given.rename ?? {})),
  };
}

for (const [promise, flag, given, expected] of [
  ['a feature passes with any date', 'effort-2099-01-01', { allow: ['effort'] }, 'effort-2099-01-01'],
  [
    'so does one whose date is written without dashes',
    'claude-code-20250219',
    { allow: ['claude-code'] },
    'claude-code-20250219',
  ],
  ['a whole flag passes alone', 'effort-2099-01-01', { allow: ['effort-2025-11-24'] }, undefined],
  ['a longer name is another feature', 'context-1m-2025-08-07', { allow: ['context'] }, undefined],
  ['everything passes a star', 'made-up', { allow: ['*'] }, 'made-up'],
  ['what is denied does not pass, star or not', 'effort-2025-11-24', { allow: ['*'], deny: ['effort'] }, undefined],
  [
    'one date may be denied alone',
    'effort-2025-11-24',
    { allow: ['effort'], deny: ['effort-2024-01-01'] },
    'effort-2025-11-24',
  ],
  [
    'a flag goes by the name that the upstream knows',
    'a-2025-01-01',
    { rename: { 'a-2025-01-01': 'b-2024-01-01' } },
    'b-2024-01-01',
  ],
  ['nothing passes an empty table', 'effort-2025-11-24', {}, undefined],
] as const)
  test(promise, () => {
    assert.equal(allowedFlag(flag, rules(given as never)), expected);
  });

test('features of the model pass besides, unless they are denied', () => {
  assert.equal(allowedFlag('effort-2025-11-24', rules({}), ['effort']), 'effort-2025-11-24');
  assert.equal(allowedFlag('effort-2025-11-24', rules({ deny: ['effort'] }), ['effort']), undefined);
});

test('sends each flag once, and reports all omitted flags in one warning', () => {
  const warnings = createWarnings();
  const unknown = Array.from({ length: 20 }, (_, at) => `unknown-${at}${'x'.repeat(100)}`);
  const given = rules({ allow: ['a'], rename: { 'c-2025-01-01': 'a-2025-01-01' } });
  assert.deepEqual(filterFlags(['a-2025-01-01', ...unknown, 'c-2025-01-01', 'a-2025-01-01'], given, warnings), [
    'a-2025-01-01',
  ]);
  assert.equal(warnings.list.length, 1);
  const [warning] = warnings.list;
  assert.deepEqual([warning?.code, warning?.path], ['field-dropped', 'anthropic-beta']);
  assert.match(warning?.message ?? '', /"unknown-7x{70,72}" and 12 more$/);
});
