import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { GuardrailRules, FilterAction } from '../../canonical/guardrail-rules.ts';
import { NO_RULES } from '../../resources/guardrail-rules.ts';
import type { GuardrailRow } from '../../resources/guardrails.ts';
import type { StoredLayers } from '../../store/accounts/policy-layers.ts';
import type { WorkspaceRow } from '../../resources/workspaces.ts';
import { mergeRules, policyFrom, type GuardrailScope, type PolicyLayer } from './policy.ts';

const names = fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd/x', 'd/y'), { minLength: 1 }));
const flag = fc.option(fc.boolean());
const action = fc.constantFrom<FilterAction>('redact', 'block', 'flag');

const arbitraryRules: fc.Arbitrary<GuardrailRules> = fc.record({
  allowedProviders: names,
  ignoredProviders: names,
  allowedModels: names,
  ignoredModels: names,
  zeroRetention: fc.record({ anthropic: flag, openai: flag, google: flag, xai: flag, other: flag }),
  paidTraining: flag,
  freeTraining: flag,
  freePublication: flag,
  contentFilters: fc.option(
    fc.uniqueArray(
      fc.record({
        pattern: fc.constantFrom('one', 'two', 'three'),
        action,
        label: fc.option(fc.constantFrom('[A]', '[B]')),
        scanOutput: fc.boolean(),
      }),
      { selector: ({ pattern }) => pattern },
    ),
  ),
  builtinFilters: fc.option(
    fc.uniqueArray(
      fc.record({
        slug: fc.constantFrom('email' as const, 'regex-prompt-injection' as const),
        action,
        scanScope: fc.constantFrom('user_only' as const, 'all_messages' as const),
        scanOutput: fc.boolean(),
      }),
      { selector: ({ slug }) => slug },
    ),
  ),
  judgeFilters: fc.option(
    fc.array(
      fc.record({
        model: fc.constantFrom('a', 'b'),
        question: fc.string(),
        threshold: fc.constantFrom(0.5, 0.9),
        action: fc.constantFrom('block' as const, 'flag' as const),
        onError: fc.constantFrom('block' as const, 'allow' as const),
        label: fc.option(fc.string()),
      }),
    ),
  ),
});

const SCOPES: readonly GuardrailScope[] = ['account', 'workspace', 'member', 'api-key'];
const layersOf = (rules: readonly GuardrailRules[]): readonly PolicyLayer[] =>
  rules.map((each, index) => ({
    source: { guardrailId: `guardrail-${index}`, name: 'G', scope: SCOPES[index] ?? 'account' },
    rules: each,
  }));

/** Whether each layer by itself allows a name. */
const lets = (allowed: readonly string[] | null, ignored: readonly string[] | null, name: string): boolean =>
  (allowed === null || allowed.includes(name)) && ignored?.includes(name) !== true;

const someLayers = fc.array(arbitraryRules, { maxLength: 4 });

suite('rules of several layers', () => {
  // @spec guardrail-9
  test('allow nothing that one of them forbids, and lose nothing else', () => {
    fc.assert(
      fc.property(someLayers, fc.constantFrom('a', 'b', 'c', 'd/x', 'd/y', 'unheard-of'), (rules, name) => {
        const merged = mergeRules(layersOf(rules));
        assert.equal(
          lets(merged.allowedModels, merged.ignoredModels, name),
          rules.every((each) => lets(each.allowedModels, each.ignoredModels, name)),
        );
        assert.equal(
          lets(merged.allowedProviders, merged.ignoredProviders, name),
          rules.every((each) => lets(each.allowedProviders, each.ignoredProviders, name)),
        );
      }),
    );
  });

  // @spec guardrail-9, guardrail-13
  test('keep a requirement of one layer, and drop a permission that one denies', () => {
    fc.assert(
      fc.property(someLayers, (rules) => {
        const merged = mergeRules(layersOf(rules));
        for (const group of ['anthropic', 'openai', 'google', 'xai', 'other'] as const)
          assert.equal(
            merged.zeroRetention[group],
            rules.some(({ zeroRetention }) => zeroRetention[group] === true),
          );
        for (const permission of ['paidTraining', 'freeTraining', 'freePublication'] as const)
          assert.equal(merged[permission], !rules.some((each) => each[permission] === false));
      }),
    );
  });

  // @spec filter-3
  test('merge each filter once, with the strongest action and the widest scope of any layer', () => {
    const strength = { flag: 0, redact: 1, block: 2 };
    fc.assert(
      fc.property(someLayers, (rules) => {
        const merged = mergeRules(layersOf(rules));
        const all = rules.flatMap(({ contentFilters }) => contentFilters ?? []);
        assert.equal(merged.contentFilters.length, new Set(all.map(({ pattern }) => pattern)).size);
        for (const filter of merged.contentFilters) {
          const same = all.filter(({ pattern }) => pattern === filter.pattern);
          assert.equal(strength[filter.action], Math.max(...same.map((each) => strength[each.action])));
          assert.equal(
            filter.scanOutput,
            same.some(({ scanOutput }) => scanOutput),
          );
          // The reported layer is one that has this action.
          const index = Number(filter.source.guardrailId.slice('guardrail-'.length));
          const own = rules[index]?.contentFilters?.find(({ pattern }) => pattern === filter.pattern);
          assert.deepEqual([own?.action, own?.label], [filter.action, filter.label]);
        }
        for (const filter of merged.builtinFilters) {
          const same = rules.flatMap((each) => each.builtinFilters?.filter(({ slug }) => slug === filter.slug) ?? []);
          assert.equal(
            filter.scanScope,
            same.some(({ scanScope }) => scanScope === 'all_messages') ? 'all_messages' : 'user_only',
          );
        }
      }),
    );
  });

  test('allow the same in every order', () => {
    const plain = (rules: readonly GuardrailRules[]) => {
      const {
        allowedModels,
        ignoredModels,
        allowedProviders,
        ignoredProviders,
        contentFilters,
        builtinFilters,
        judgeFilters,
        ...rest
      } = mergeRules(layersOf(rules));
      const sorted = (list: readonly string[] | null) => list?.toSorted();
      return {
        ...rest,
        lists: [allowedModels, ignoredModels, allowedProviders, ignoredProviders].map(sorted),
        filters: contentFilters.map((each) => `${each.pattern} ${each.action} ${each.scanOutput}`).toSorted(),
        judges: judgeFilters.map(({ source: _source, ...each }) => JSON.stringify(each)).toSorted(),
        builtin: builtinFilters.map((each) => `${each.slug} ${each.action} ${each.scanScope}`).toSorted(),
      };
    };
    fc.assert(
      fc.property(someLayers, (rules) => {
        assert.deepEqual(plain(rules), plain(rules.toReversed()));
      }),
    );
  });

  test('allow none where their lists share no name, which differs from no list', () => {
    const [first, second] = [
      { ...NO_RULES, allowedModels: ['a'] },
      { ...NO_RULES, allowedModels: ['b'] },
    ];
    assert.deepEqual(mergeRules(layersOf([first, second])).allowedModels, []);
    assert.equal(mergeRules(layersOf([NO_RULES, NO_RULES])).allowedModels, null);
  });

  test('keep the variant where one allows a provider and another its variant', () => {
    const [base, variant] = [
      { ...NO_RULES, allowedProviders: ['d'] },
      { ...NO_RULES, allowedProviders: ['d/x', 'e'] },
    ];
    assert.deepEqual(mergeRules(layersOf([base, variant])).allowedProviders, ['d/x']);
  });
});

const WORKSPACE: WorkspaceRow = {
  id: 'workspace-1',
  slug: 'one',
  name: 'One',
  description: null,
  defaultTextModel: 'acme/one',
  defaultImageModel: null,
  defaultProviderSort: null,
  defaultProviderPreferences: null,
  defaultPlugins: null,
  isIoLoggingEnabled: false,
  ioLoggingSamplingPpm: 1_000_000,
  ioLoggingApiKeyIds: null,
  ioLoggingApiKeyHashes: null,
  isBroadcastEnabled: true,
  isDataDiscountLoggingEnabled: false,
  includeByokInBudgets: true,
  defaultGuardrailId: 'guardrail-0',
  createdAtMs: 0,
  updatedAtMs: null,
  createdBy: null,
};

function guardrail(id: string, members: Partial<GuardrailRow> = {}): GuardrailRow {
  return {
    id,
    workspaceId: 'workspace-1',
    name: id,
    description: null,
    limitNanoUsd: null,
    resetInterval: null,
    includeByokInBudgets: false,
    rules: NO_RULES,
    createdAtMs: 0,
    updatedAtMs: null,
    ...members,
  };
}

const NOTHING: StoredLayers = {
  workspace: WORKSPACE,
  budgets: [],
  workspaceGuardrail: undefined,
  memberGuardrail: undefined,
  keyGuardrail: undefined,
  keyPreferences: null,
  keyPlugins: null,
};
const SUBJECT = { keyHash: 'k', workspaceId: 'workspace-1', memberId: 'ann' };

suite('the policy of a key', () => {
  // @spec guardrail-10, money-27
  test("counts every budget separately: the workspace's from the broadest, then each guardrail's per key and per member", () => {
    const budget = { id: '', workspaceId: 'workspace-1', createdAtMs: 0, updatedAtMs: 0 };
    const { limits } = policyFrom(SUBJECT, {
      ...NOTHING,
      budgets: [
        { ...budget, interval: 'daily', limitNanoUsd: 1 },
        { ...budget, interval: 'lifetime', limitNanoUsd: 100 },
      ],
      workspaceGuardrail: guardrail('all', { limitNanoUsd: 5, resetInterval: 'weekly' }),
      memberGuardrail: guardrail('members', { limitNanoUsd: 6, resetInterval: 'daily', includeByokInBudgets: true }),
      keyGuardrail: guardrail('keys', { limitNanoUsd: 7 }),
    });
    assert.deepEqual(
      limits.map(({ subject, kind, limitNanoUsd, reset, includesByok }) => [
        subject,
        kind,
        limitNanoUsd,
        reset,
        includesByok,
      ]),
      [
        ['workspace:workspace-1', 'workspace', 100, null, true],
        ['workspace:workspace-1', 'workspace', 1, 'daily', true],
        ['key:k', 'guardrail', 5, 'weekly', false],
        ['member:ann', 'guardrail', 5, 'weekly', false],
        ['member:ann', 'guardrail', 6, 'daily', true],
        ['key:k', 'guardrail', 7, null, false],
      ],
    );
  });

  test('has no member budget for a key without a member', () => {
    const { limits } = policyFrom(
      { ...SUBJECT, memberId: null },
      { ...NOTHING, workspaceGuardrail: guardrail('all', { limitNanoUsd: 5 }) },
    );
    assert.deepEqual(
      limits.map(({ subject }) => subject),
      ['key:k'],
    );
  });

  test('puts preferences of the key before those of its workspace', () => {
    const { preferences, defaultModel } = policyFrom(SUBJECT, {
      ...NOTHING,
      workspace: { ...WORKSPACE, defaultProviderPreferences: { zdr: true }, defaultProviderSort: 'latency' },
      keyPreferences: { only: ['alpha'] },
    });
    assert.deepEqual(preferences, [{ only: ['alpha'] }, { zdr: true, sort: { by: 'latency' } }]);
    assert.equal(defaultModel, 'acme/one');
  });

  test('drops the sort of a workspace where its preferences set an order', () => {
    const preferencesWith = (defaultProviderPreferences: WorkspaceRow['defaultProviderPreferences']) =>
      policyFrom(SUBJECT, {
        ...NOTHING,
        workspace: { ...WORKSPACE, defaultProviderPreferences, defaultProviderSort: 'latency' },
      }).preferences;
    assert.deepEqual(preferencesWith({ order: ['alpha'] }), [{ order: ['alpha'] }]);
    assert.deepEqual(preferencesWith({ sort: { by: 'price' } }), [{ sort: { by: 'price' } }]);
    assert.deepEqual(preferencesWith(null), [{ sort: { by: 'latency' } }]);
  });

  test("has only the key's own guardrail where the workspace is deleted", () => {
    const policy = policyFrom(SUBJECT, {
      ...NOTHING,
      workspace: undefined,
      keyGuardrail: guardrail('keys', { rules: { ...NO_RULES, allowedModels: ['a'] } }),
    });
    assert.deepEqual(
      [policy.allowedModels, policy.limits, policy.preferences, policy.defaultModel],
      [['a'], [], [], null],
    );
  });
});
