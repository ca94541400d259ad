import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedFlag } from '../wire/beta-flags.ts';
import { createBetaTable, type BetaChanges } from './beta-flags.ts';
import { createProviders } from './index.ts';

const NO_CHANGES: BetaChanges = { allow: [], deny: [], rename: {} };

test('accepts features with any date for the vendor, with one date for resellers, and none for others', () => {
  const table = createBetaTable();
  const flag = 'context-management-2099-01-01';
  const taken = (adapter: string, one: string): string | undefined =>
    allowedFlag(one, table.rulesFor({ slug: adapter, adapter }));
  assert.equal(taken('anthropic', flag), flag);
  for (const adapter of ['azure', 'google-vertex', 'bedrock', 'messages-compatible', 'toString'])
    assert.equal(taken(adapter, flag), undefined);
  assert.equal(taken('google-vertex', 'context-management-2025-06-27'), 'context-management-2025-06-27');
  assert.equal(taken('google-vertex', 'advanced-tool-use-2025-11-20'), 'tool-search-tool-2025-10-19');
  assert.equal(taken('anthropic', 'oauth-2025-04-20'), undefined);
});

test('changes are those of one slug, and replace the earlier ones', () => {
  const table = createBetaTable({ mine: { ...NO_CHANGES, allow: ['one'] } });
  const taken = (slug: string, flag: string): string | undefined =>
    allowedFlag(flag, table.rulesFor({ slug, adapter: 'messages-compatible' }));
  assert.equal(taken('mine', 'one'), 'one');
  assert.equal(taken('other', 'one'), undefined);
  table.replace({ mine: { allow: ['two'], deny: [], rename: { three: 'four' } } });
  assert.deepEqual([taken('mine', 'one'), taken('mine', 'two'), taken('mine', 'three')], [undefined, 'two', 'four']);
});

test('gives every provider the rules in effect, also after they changed', () => {
  const betaTable = createBetaTable();
  const timeouts = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
  const providers = createProviders({ config: [], env: { ANTHROPIC_API_KEY: 'k' }, timeouts, betaTable });
  const rules = (): boolean | undefined => providers.get('anthropic')?.betaRules?.().allow.has('new-feature');
  assert.equal(rules(), false);
  betaTable.replace({ anthropic: { ...NO_CHANGES, allow: ['new-feature'] } });
  assert.equal(rules(), true);
});
