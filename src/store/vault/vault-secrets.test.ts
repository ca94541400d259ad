import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import type { VaultReleaseRow, VaultSecretRow } from './columns.ts';
import { createVaultReleaseStore } from './vault-releases.ts';
import type { VaultScope } from '../../canonical/vault-reference.ts';
import { createVaultSecretStore } from './vault-secrets.ts';

const ONE: VaultScope = { kind: 'workspace', id: 'one' };
const OTHER: VaultScope = { kind: 'workspace', id: 'other' };
const HOUR_MS = 3_600_000;

function secretOf(scope: VaultScope, name: string, more: Partial<VaultSecretRow> = {}): VaultSecretRow {
  return {
    id: `${scope.id} ${name}`,
    scopeKind: scope.kind,
    scopeId: scope.id,
    name,
    hosts: ['a.example', 'b.example'],
    sealed: 'sealed',
    secretId: 's1',
    external: null,
    createdAtMs: 1,
    updatedAtMs: 1,
    ...more,
  };
}

function releaseOf(more: Partial<VaultReleaseRow>): VaultReleaseRow {
  return {
    hourMs: HOUR_MS,
    scopeKind: 'workspace',
    scopeId: 'one',
    name: 'a',
    host: 'a.example',
    caller: 'provider:alpha',
    keyHash: '',
    verdict: 'released',
    count: 1,
    lastAtMs: HOUR_MS + 5,
    ...more,
  };
}

for (const { name: engine, makePlace } of ALL_ENGINES)
  suite(`the vault: ${engine}`, () => {
    let database: Database;
    let place: Place;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    test('keeps one secret of a name in each scope, and replaces what it holds', async () => {
      const store = createVaultSecretStore({ database });
      let changes = 0;
      store.subscribe(() => changes++);
      await store.put(secretOf(ONE, 'b'));
      await store.put(secretOf(ONE, 'a'));
      await store.put(secretOf(OTHER, 'a'));
      const replaced = await store.put(
        secretOf(ONE, 'a', { id: 'new', hosts: null, sealed: 'again', createdAtMs: 9, updatedAtMs: 9 }),
      );
      const { id, createdAtMs, updatedAtMs, sealed, hosts } = replaced;
      assert.deepEqual([id, createdAtMs, updatedAtMs, sealed, hosts], ['one a', 1, 9, 'again', null]);
      const { rows, totalCount } = await store.list(ONE, { offset: 0, limit: 10 });
      assert.deepEqual([rows.map(({ name }) => name), totalCount], [['a', 'b'], 2]);
      assert.equal((await store.find(OTHER, 'a'))?.sealed, 'sealed');
      assert.equal(await store.remove(ONE, 'a'), true);
      assert.equal(await store.remove(ONE, 'a'), false);
      assert.deepEqual([await store.count(ONE), await store.count(OTHER), (await store.all(10)).length], [1, 1, 2]);
      assert.equal(changes, 6);
    });

    test('adds up the releases of an hour, and forgets old hours', async () => {
      const store = createVaultReleaseStore({ database });
      await store.add([releaseOf({ count: 2 }), releaseOf({ verdict: 'refused', lastAtMs: HOUR_MS + 9 })]);
      await store.add([releaseOf({ count: 3, lastAtMs: HOUR_MS + 7 }), releaseOf({ hourMs: 2 * HOUR_MS, name: 'b' })]);
      const { rows } = await store.list({ offset: 0, limit: 10, scope: ONE, name: 'a' });
      assert.deepEqual(
        rows.map(({ verdict, count, lastAtMs }) => [verdict, count, lastAtMs - HOUR_MS]),
        [
          ['refused', 1, 9],
          ['released', 5, 7],
        ],
      );
      assert.deepEqual([...(await store.lastReleases(ONE, ['a', 'c']))], [['a', HOUR_MS + 7]]);
      await store.removeBefore(2 * HOUR_MS);
      assert.equal((await store.list({ offset: 0, limit: 10 })).totalCount, 1);
    });
  });
