import assert from 'node:assert/strict';
import { after, before, beforeEach, mock, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { keyResource, type KeyRow } from '../../resources/keys.ts';
import { createKeyStore, type KeyStore } from './keys.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';

function sampleKey(changes: Partial<KeyRow> = {}): KeyRow {
  const required = {
    hash: 'a'.repeat(64),
    label: 'mgw-abc...wxyz',
    name: 'Key',
    createdAtMs: 1_790_000_000_000,
    workspaceId: 'workspace-1',
  };
  return keyResource.newRow({ ...required, ...changes });
}

async function listHashes(
  store: KeyStore,
  filter: Partial<Parameters<KeyStore['list']>[0]>,
): Promise<readonly string[]> {
  const keys = await store.list({ includeDisabled: false, offset: 0, limit: 100, ...filter });
  return keys.map(({ hash }) => hash);
}

for (const { name: engine, makePlace } of ALL_ENGINES)
  suite(`the key store: ${engine}`, () => {
    let database: Database;
    let place: Place;
    let store: KeyStore;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });
    beforeEach(async () => {
      await database.kysely.deleteFrom('keys').execute();
      store = createKeyStore({ database });
    });

    test('looks up a thousand unknown keys in a dozen statements, and finds the one that exists among them', async (t) => {
      await store.insert(sampleKey());
      const select = mock.method(database.kysely, 'selectFrom');
      t.after(() => select.mock.restore());
      const strangers = Array.from({ length: 1_000 }, (_, index) => store.find(String(index).padStart(64, '0')));
      assert.deepEqual(await store.find(sampleKey().hash), sampleKey());
      assert.deepEqual(new Set(await Promise.all(strangers)), new Set([undefined]));
      assert.ok(select.mock.callCount() <= 13, `${select.mock.callCount()}`);
    });

    test('fails only the lookup of a key that cannot be read, and none that shares its statement', async () => {
      const unread = 'c'.repeat(64);
      const hashes = ['a'.repeat(64), 'b'.repeat(64), unread, 'd'.repeat(64)];
      for (const hash of hashes) await store.insert(sampleKey({ hash }));
      const unreadable = { default_provider_preferences: '{"of a later version":true}' };
      await database.kysely.updateTable('keys').set(unreadable).where('hash', '=', unread).execute();
      const found = await Promise.allSettled(hashes.map((hash) => store.find(hash)));
      assert.deepEqual(
        found.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
      );
    });

    test('returns a key as it was inserted', async () => {
      const full = sampleKey({
        kind: 'management',
        disabled: true,
        updatedAtMs: 2,
        expiresAtMs: 3,
        limitNanoUsd: 4,
        limitReset: 'weekly',
        includeByokInLimit: true,
        creatorUserId: 'user-1',
      });
      await store.insert(full);
      assert.deepEqual(await store.find(full.hash), full);
    });

    test('changes only the named fields', async () => {
      const key = sampleKey({ limitNanoUsd: 5, limitReset: 'daily' });
      await store.insert(key);
      const changed = await store.update(key.hash, { disabled: true, limitReset: null, updatedAtMs: 9 });
      assert.deepEqual(changed, { ...key, disabled: true, limitReset: null, updatedAtMs: 9 });
      assert.deepEqual(await store.find(key.hash), changed);
    });

    test('hides a deleted key from every lookup', async () => {
      const key = sampleKey();
      await store.insert(key);
      assert.equal(await store.remove(key.hash, 9), true);
      assert.equal(await store.find(key.hash), undefined);
      assert.deepEqual(await store.list({ includeDisabled: true, offset: 0, limit: 100 }), []);
      assert.equal(await store.update(key.hash, { name: 'x', updatedAtMs: 9 }), undefined);
      assert.equal(await store.remove(key.hash, 9), false);
    });

    test('includes a key that is issued during a cascade', async () => {
      await database.kysely.updateTable('workspaces').set({ id: 'workspace-1' }).execute();
      const root = sampleKey({ hash: 'e'.repeat(64) });
      await store.insert(root);
      const issuedBy = (issuer: string, hash: string): KeyRow =>
        sampleKey({ hash, issuerKeyHash: issuer, issuerLabel: 'mgw-...', rootKeyHash: root.hash });
      const hashOf = (index: number): string => index.toString(16).padStart(64, '0');
      await store.insertInWorkspace(issuedBy(root.hash, hashOf(0)));
      const inserts = Array.from({ length: 24 }, (_, index) =>
        store.insertInWorkspace(issuedBy(index % 2 === 0 ? root.hash : hashOf(0), hashOf(index + 1))),
      );
      const [cascaded, ...outcomes] = await Promise.all([store.cascade(root.hash, { deletedAtMs: 9 }), ...inserts]);
      assert.equal(cascaded?.length, 1 + outcomes.filter((outcome) => outcome === 'inserted').length);
      assert.deepEqual(await listHashes(store, { includeDisabled: true }), []);
      assert.equal(await store.insertInWorkspace(issuedBy(root.hash, hashOf(99))), 'no issuer');
      assert.equal(await store.cascade(root.hash, { deletedAtMs: 9 }), undefined);
    });

    test('neither changes nor deletes a key of the other kind', async () => {
      const key = sampleKey({ kind: 'management' });
      await store.insert(key);
      assert.equal(await store.update(key.hash, { name: 'x', updatedAtMs: 9 }, 'normal'), undefined);
      assert.equal(await store.remove(key.hash, 9, 'normal'), false);
      assert.deepEqual(await store.find(key.hash), key);
    });

    test('lists keys newest first, filtered and by page', async () => {
      const keys = [
        sampleKey({ hash: '1', createdAtMs: 1 }),
        sampleKey({ hash: '2', createdAtMs: 2, disabled: true }),
        sampleKey({ hash: '3', createdAtMs: 3, kind: 'management' }),
        sampleKey({ hash: '4', createdAtMs: 3, workspaceId: 'workspace-2' }),
      ];
      for (const key of keys) await store.insert(key);
      assert.deepEqual(await listHashes(store, {}), ['3', '4', '1']);
      assert.deepEqual(await listHashes(store, { includeDisabled: true }), ['3', '4', '2', '1']);
      assert.deepEqual(await listHashes(store, { kind: 'normal' }), ['4', '1']);
      assert.deepEqual(await listHashes(store, { workspaceId: 'workspace-2' }), ['4']);
      assert.deepEqual(await listHashes(store, { offset: 1, limit: 1 }), ['4']);
    });

    test('inserts the first keys once, however many processes start together', async () => {
      const starts = ['1', '2', '3'].map((hash) => store.insertFirst([sampleKey({ hash })]));
      assert.deepEqual(
        (await Promise.all(starts)).filter((made) => made),
        [true],
      );
      assert.equal((await store.list({ includeDisabled: true, offset: 0, limit: 100 })).length, 1);
    });

    test('inserts no first keys into a store whose keys were all deleted', async () => {
      await store.insert(sampleKey());
      await store.remove(sampleKey().hash, 9);
      assert.equal(await store.insertFirst([sampleKey({ hash: 'b' })]), false);
    });

    test('announces every change after its commit', async () => {
      const seen: (string | undefined)[] = [];
      let check = Promise.resolve();
      store.subscribe((hash) => {
        check = store.find(hash).then((key) => void seen.push(key?.name));
      });
      await store.insert(sampleKey({ name: 'one' }));
      await check;
      await store.update(sampleKey().hash, { name: 'two', updatedAtMs: 9 });
      await check;
      await store.remove(sampleKey().hash, 9);
      await check;
      assert.deepEqual(seen, ['one', 'two', undefined]);
    });
  });
