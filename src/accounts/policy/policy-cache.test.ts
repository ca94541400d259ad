import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { createAdministration, type Administration } from '../../app/administration.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { createCatalog } from '../../catalog/catalog.ts';
import { openDatabase, type Database } from '../../store/engine/database.ts';
import { createKeyStore } from '../../store/accounts/keys.ts';
import type { StoredLayers } from '../../store/accounts/policy-layers.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { createKeys, type Keys } from '../keys/keys.ts';
import type { Policy } from './policy.ts';
import { createPolicyCache } from './policy-cache.ts';
import { DEFAULT_WORKSPACE_ID } from '../principal.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';

const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0 };

for (const engine of ENGINES)
  suite(`policies over ${engine.name}`, () => {
    let place: Place;
    let database: Database;
    let administration: Administration;
    let keys: Keys;
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ path: place.path, url: place.url, clock });
      const keyStore = createKeyStore({ database });
      keys = createKeys({ store: keyStore, clock });
      administration = createAdministration({
        database,
        keyStore,
        catalog: createCatalog([], []),
        clock,
        onLostAudit: () => assert.fail('none is lost'),
      });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    // @spec guardrail-14
    test('applies every change to the next request', async () => {
      const { policies, workspaces, budgets, guardrails, assignments } = administration;
      const workspace = await workspaces.create({ name: 'W', slug: 'w' });
      const { record } = await keys.create({ name: 'App', workspaceId: workspace.id, creatorUserId: 'ann b' });
      const principal = samplePrincipal({ keyHash: record.hash, workspaceId: workspace.id, memberId: 'ann b' });
      const now = async (): Promise<Policy> => policies.policyOf(principal);
      /** Returns what is cached, at once. */
      const remembered = async (): Promise<Policy> => {
        const policy = await now();
        assert.equal(policies.policyOf(principal), policy);
        return policy;
      };
      assert.equal((await remembered()).allowedModels, null);

      const ofKey = await guardrails.create({ name: 'K', rules: { allowedModels: ['a', 'b'] } });
      await assignments.assign('key', ofKey.id, [record.hash], 'admin');
      assert.deepEqual((await remembered()).allowedModels, ['a', 'b']);

      const ofMember = await guardrails.create({ name: 'M', limitNanoUsd: 7, rules: { allowedModels: ['b', 'c'] } });
      await assignments.assign('member', ofMember.id, ['ann b'], 'admin');
      assert.deepEqual((await remembered()).allowedModels, ['b']);

      await guardrails.update(workspace.defaultGuardrailId, { rules: { ignoredModels: ['b'] } });
      assert.deepEqual((await remembered()).ignoredModels, ['b']);

      await guardrails.update(ofKey.id, { rules: { allowedModels: ['b', 'd'] } });
      await assignments.unassign('member', ofMember.id, ['ann b']);
      assert.deepEqual((await remembered()).allowedModels, ['b', 'd']);

      await budgets.put('w', 'daily', 9, undefined);
      assert.deepEqual(
        (await remembered()).limits.map(({ limitNanoUsd }) => limitNanoUsd),
        [9],
      );
      await budgets.delete('w', 'daily');
      assert.deepEqual((await remembered()).limits, []);

      await workspaces.update('w', { defaultProviderPreferences: { zdr: true }, defaultTextModel: 'acme/one' });
      assert.deepEqual((await remembered()).preferences, [{ zdr: true }]);
      await keys.update(record.hash, { defaultProviderPreferences: { only: ['alpha'] } });
      const { preferences, defaultModel } = await remembered();
      assert.deepEqual([preferences, defaultModel], [[{ only: ['alpha'] }, { zdr: true }], 'acme/one']);

      await guardrails.delete(ofKey.id);
      assert.equal((await remembered()).allowedModels, null);
    });

    // @spec guardrail-14
    test('applies a change in one process to the others once it is announced', async () => {
      const received: (() => void)[] = [];
      const inProcess = (): Administration =>
        createAdministration({
          database,
          keyStore: createKeyStore({ database }),
          invalidations: {
            announce: () => received.forEach((listener) => listener()),
            subscribe: (_topic, listener) => void received.push(() => listener('')),
          },
          catalog: createCatalog([], []),
          clock,
          onLostAudit: () => assert.fail('none is lost'),
        });
      const [here, there] = [inProcess(), inProcess()];
      const workspace = await here.workspaces.create({ name: 'W', slug: 'heard' });
      const principal = samplePrincipal({ workspaceId: workspace.id });
      assert.deepEqual((await there.policies.policyOf(principal)).limits, []);
      await here.budgets.put('heard', 'daily', 9, undefined);
      assert.equal((await there.policies.policyOf(principal)).limits.length, 1);
    });

    // @spec guardrail-15
    test('uses known rules while the database is away, even after a gap in the announcements', async () => {
      const gaps: (() => void)[] = [];
      const own = await openDatabase({ path: place.path, url: place.url, clock });
      const { workspaces, budgets, policies } = createAdministration({
        database: own,
        keyStore: createKeyStore({ database: own }),
        invalidations: {
          announce: () => undefined,
          subscribe: (_topic, _listener, onGap) => void gaps.push(onGap ?? assert.fail),
        },
        catalog: createCatalog([], []),
        clock,
        onLostAudit: () => assert.fail('none is lost'),
      });
      const workspace = await workspaces.create({ name: 'W', slug: 'missed' });
      const principal = samplePrincipal({ workspaceId: workspace.id });
      await budgets.put('missed', 'daily', 9, undefined);
      assert.equal((await policies.policyOf(principal)).limits.length, 1);
      await administration.budgets.delete('missed', 'daily');
      gaps.forEach((notify) => notify());
      assert.equal((await policies.policyOf(principal)).limits.length, 0, 'they are read again');
      await own.close();
      gaps.forEach((notify) => notify());
      assert.equal((await policies.policyOf(principal)).limits.length, 0, 'the last ones serve');
    });

    test('gives a key from the environment the rules of the default workspace', async () => {
      const { guardrails, workspaces, policies } = administration;
      const { defaultGuardrailId } = await workspaces.get(DEFAULT_WORKSPACE_ID);
      await guardrails.update(defaultGuardrailId, { rules: { allowedProviders: ['Alpha'] } });
      assert.deepEqual((await policies.policyOf(samplePrincipal())).allowedProviders, ['alpha']);
    });
  });

const LAYERS: StoredLayers = {
  workspace: undefined,
  budgets: [],
  workspaceGuardrail: undefined,
  memberGuardrail: undefined,
  keyGuardrail: undefined,
  keyPreferences: null,
  keyPlugins: null,
};

// @spec guardrail-15
test('answers 503 when rules cannot be read, rather than applying none', async () => {
  const cache = createPolicyCache({ read: () => Promise.reject(new Error('away')), clock });
  await assert.rejects(
    async () => cache.policyOf(samplePrincipal()),
    (error) => error instanceof GatewayError && error.status === 503 && error.retryAfterMs === 1_000,
  );
});

test('distinguishes rules by key, workspace and member', async () => {
  const requested: unknown[] = [];
  const cache = createPolicyCache({
    read: (subject) => {
      requested.push(subject);
      return Promise.resolve(LAYERS);
    },
    clock,
  });
  const subjects = [
    { keyHash: 'k', workspaceId: 'w', memberId: null },
    { keyHash: 'k', workspaceId: 'w', memberId: '' },
    { keyHash: 'k', workspaceId: 'w', memberId: 'ann  b' },
    { keyHash: 'k', workspaceId: 'x', memberId: null },
  ];
  for (const subject of [...subjects, ...subjects]) await cache.policyOf(subject);
  assert.deepEqual(requested, subjects);
});
