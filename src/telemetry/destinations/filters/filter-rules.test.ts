import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { JobError } from '../../../lib/threads/job-threads.ts';
import type { ExportedGeneration } from '../contract.ts';
import { filterRulesSchema } from '../../../resources/filter-rules.ts';
import { fitsRules } from './filter-rules.ts';
import { createPatternSearch } from './pattern-search.ts';

const GENERATION: ExportedGeneration = {
  id: 'gen-1',
  requestId: 'gen-1',
  startMs: 0,
  endMs: 1,
  modelRequested: 'acme/one',
  model: 'acme/one',
  apiType: 'chat',
  isCached: false,
  streamed: false,
  cancelled: false,
  status: 200,
  tokens: { prompt: 3, completion: 4, cacheRead: 0, cacheWrite: 0, estimated: false },
  settings: {},
  trace: {},
  cost: { total: 500_000_000 },
  identity: { keyHash: 'k', workspaceId: 'w' },
  context: { region: 'local', attempts: [], strategy: 'direct' },
  content: { input: { messages: [] }, output: { completion: 'a'.repeat(20_000), reasoning: null }, error: null },
};

type Rule = readonly [field: string, operator: string, value?: string | number];

const rulesOf = (logic: 'and' | 'or', rules: readonly Rule[]) =>
  filterRulesSchema.parse({
    groups: [{ logic, rules: rules.map(([field, operator, value]) => ({ field, operator, value })) }],
  });

const ANONYMOUS = { search: () => assert.fail('nobody need look for a pattern') };

suite('filter rules', () => {
  // A thread that starts on a busy machine takes its time.
  const patterns = createPatternSearch({ searchMsMax: 60_000 });
  after(() => patterns.close());
  const fits = async (logic: 'and' | 'or', rules: readonly Rule[]) =>
    fitsRules(rulesOf(logic, rules), GENERATION, patterns);

  test('finds a pattern anywhere in a text, unless it is anchored', async () => {
    assert.equal(await fits('and', [['model', 'regex', 'one']]), true);
    assert.equal(await fits('and', [['model', 'regex', '^one']]), false);
    assert.equal(await fits('and', [['total_tokens', 'regex', '^7$']]), true);
    assert.equal(await fits('and', [['output', 'regex', '^a{20}']]), true);
  });

  test('matches each of several patterns separately', async () => {
    const [found, missed] = [['model', 'regex', 'acme'] as const, ['model', 'regex', 'zeta'] as const];
    assert.equal(await fits('and', [found, missed]), false);
    assert.equal(await fits('or', [missed, found]), true);
    assert.equal(await fits('and', [found, found]), true);
  });

  test('finds nothing in an absent value', () => {
    assert.equal(fitsRules(rulesOf('and', [['session_id', 'regex', '.?']]), GENERATION, ANONYMOUS), false);
  });

  test('skips patterns that make no difference', () => {
    const pattern = ['output', 'regex', 'a'] as const;
    const both = [['model', 'equals', 'acme/two'], pattern] as const;
    assert.equal(fitsRules(rulesOf('and', both), GENERATION, ANONYMOUS), false);
    const either = [pattern, ['model', 'equals', 'acme/one']] as const;
    assert.equal(fitsRules(rulesOf('or', either), GENERATION, ANONYMOUS), true);
  });

  test('gives up a pattern that takes too long', async () => {
    const short = createPatternSearch({ searchMsMax: 50 });
    const rules = rulesOf('and', [['output', 'regex', 'a*a*a*a*a*a*b']]);
    const judged = Promise.resolve(fitsRules(rules, GENERATION, short));
    await assert.rejects(judged, (error) => error instanceof JobError && error.fault === 'timeout');
    await short.close();
  });

  test('compares numbers however they are written', () => {
    const isSo = (rule: Rule) => fitsRules(rulesOf('and', [rule]), GENERATION, ANONYMOUS);
    assert.equal(isSo(['total_cost', 'equals', '0.50']), true);
    assert.equal(isSo(['total_cost', 'not_equals', 0.5]), false);
    assert.equal(isSo(['total_tokens', 'equals', '7.0']), true);
    assert.equal(isSo(['session_id', 'not_equals', '']), true);
  });
});
