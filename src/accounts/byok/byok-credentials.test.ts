import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretBox, secretFrom } from '../../lib/secret-box.ts';
import type { ByokKeyRow } from '../../resources/byok-keys.ts';
import { createByokCredentials, purposeOf, type CredentialsAt } from './byok-credentials.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';

const box = createSecretBox([secretFrom('the secret of the test')]);
const principal = samplePrincipal();

function row(id: string, changes: Partial<ByokKeyRow> = {}): ByokKeyRow {
  return {
    id,
    workspaceId: null,
    provider: 'acme',
    name: null,
    label: '...',
    sealed: box.seal(`key of ${id}`, purposeOf({ id, provider: 'acme' })),
    secretId: box.currentId,
    disabled: false,
    isFallback: false,
    alwaysUse: false,
    sortOrder: 0,
    allowedModels: null,
    allowedApiKeyHashes: null,
    allowedUserIds: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...changes,
  };
}

function setUp(rows: readonly ByokKeyRow[]) {
  const state = {
    rows,
    nowMs: 0,
    isAway: false,
    reads: 0,
    changed: (): void => undefined,
    missed: (): void => undefined,
    reported: [] as string[],
  };
  const credentials = createByokCredentials({
    store: {
      all() {
        state.reads++;
        return state.isAway ? Promise.reject(new Error('away')) : Promise.resolve(state.rows);
      },
      subscribe(listener, onGap) {
        state.changed = listener;
        state.missed = onGap ?? listener;
      },
    },
    secrets: { box: () => Promise.resolve(box) },
    clock: { nowMs: () => 0, monotonicMs: () => state.nowMs },
    onRead: (providers) => Promise.resolve(void state.reported.push(...providers)),
    slugOf: (model) => (model === 'acme/one-2026-01' && state.reported.length > 0 ? 'acme/one' : model),
  });
  const idsAt = (at: CredentialsAt, model = 'acme/one', provider = 'acme'): string[] =>
    at({ provider, model }).map(({ id }) => id);
  return { state, credentials, idsAt };
}

// @spec byok-6
test('hides a credential of another workspace, member or key, and a disabled one from every caller', async () => {
  const { credentials, idsAt } = setUp([
    row('all'),
    row('own', { workspaceId: principal.workspaceId }),
    row('other', { workspaceId: 'another' }),
    row('member', { allowedUserIds: ['ann'] }),
    row('key', { allowedApiKeyHashes: [principal.keyHash] }),
    row('keys', { allowedApiKeyHashes: ['b'.repeat(64)] }),
    row('model', { allowedModels: ['acme/two'] }),
    row('off', { disabled: true }),
  ]);
  assert.deepEqual(idsAt(await credentials.of(principal)), ['all', 'own', 'key']);
  assert.deepEqual(idsAt(await credentials.of({ ...principal, memberId: 'ann' }), 'acme/two'), [
    'all',
    'own',
    'member',
    'key',
    'model',
  ]);
  assert.deepEqual(idsAt(await credentials.of(principal), 'acme/one', 'beta'), []);
});

test('accepts the permanent name of a model', async () => {
  const { credentials, idsAt } = setUp([row('a', { allowedModels: ['acme/one-2026-01'] })]);
  assert.deepEqual(idsAt(await credentials.of(principal)), ['a']);
  assert.deepEqual(idsAt(await credentials.of(principal), 'acme/two'), []);
  assert.deepEqual(credentials.find('a')?.allowedModels, ['acme/one-2026-01'], 'which is shown as it was sent');
});

test('returns credentials at once that were read a moment ago, and reads them again after a change', async () => {
  const { state, credentials, idsAt } = setUp([row('a')]);
  await credentials.of(principal);
  const known = credentials.of(principal);
  assert.ok(!(known instanceof Promise));
  state.rows = [row('b')];
  state.changed();
  assert.deepEqual(idsAt(await credentials.of(principal)), ['b']);
  assert.equal(state.reads, 2);
  assert.deepEqual(state.reported, ['acme', 'acme']);
});

// @spec byok-17
test('uses the last credentials while the database is away, and after ten minutes fails rather than spend other money', async () => {
  const { state, credentials, idsAt } = setUp([row('a')]);
  await credentials.of(principal);
  state.isAway = true;
  state.nowMs = 9 * 60_000;
  assert.deepEqual(idsAt(await credentials.of(principal)), ['a']);
  state.nowMs = 20 * 60_000;
  await assert.rejects(async () => credentials.of(principal), { status: 503 });
});

test('reads credentials again after a gap in the announcements, and uses the last ones while it cannot', async () => {
  const { state, credentials, idsAt } = setUp([row('a')]);
  await credentials.of(principal);
  state.isAway = true;
  state.missed();
  assert.deepEqual(idsAt(await credentials.of(principal)), ['a']);
  state.isAway = false;
  state.rows = [row('b')];
  state.missed();
  assert.deepEqual(idsAt(await credentials.of(principal)), ['b']);
});

test('opens a credential only as itself, and finds it by its id as it was read last', async () => {
  const { credentials } = setUp([row('a'), row('b')]);
  await credentials.of(principal);
  const a = credentials.find('a');
  const b = credentials.find('b');
  assert.ok(a !== undefined && b !== undefined);
  assert.equal(await credentials.open(a), 'key of a');
  await assert.rejects(credentials.open({ ...a, sealed: b.sealed }));
  await assert.rejects(credentials.open({ ...a, provider: 'beta' }));
  assert.equal(credentials.find('c'), undefined);
});
