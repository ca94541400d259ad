import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { systemClock as clock } from '../lib/clock.ts';
import { openDatabase, type Database } from './database.ts';
import { createGenerationStore } from './generations.ts';
import { createKeyStore, type KeyRow, type KeyStore } from './keys.ts';
import { sampleGeneration } from './test-generation.ts';

function sampleKey(changes: Partial<KeyRow> = {}): KeyRow {
  return {
    hash: 'a'.repeat(64),
    label: 'mgw-abc...wxyz',
    name: 'Key',
    kind: 'normal',
    disabled: false,
    createdAtMs: 1_790_000_000_000,
    updatedAtMs: null,
    expiresAtMs: null,
    limitNanoUsd: null,
    limitReset: null,
    includeByokInLimit: false,
    creatorUserId: null,
    workspaceId: 'workspace-1',
    ...changes,
  };
}

async function listHashes(
  store: KeyStore,
  filter: Partial<Parameters<KeyStore['list']>[0]>,
): Promise<readonly string[]> {
  const keys = await store.list({ includeDisabled: false, offset: 0, limit: 100, ...filter });
  return keys.map(({ hash }) => hash);
}

suite('keys in the store', () => {
  let database: Database;
  let store: KeyStore;
  before(async () => {
    database = await openDatabase({ path: ':memory:', clock });
  });
  after(() => database.close());
  beforeEach(async () => {
    await database.kysely.deleteFrom('keys').execute();
    store = createKeyStore({ database });
  });

  test('a key comes back as it was inserted', async () => {
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

  test('only what is named changes', async () => {
    const key = sampleKey({ limitNanoUsd: 5, limitReset: 'daily' });
    await store.insert(key);
    const changed = await store.update(key.hash, { disabled: true, limitReset: null, updatedAtMs: 9 });
    assert.deepEqual(changed, { ...key, disabled: true, limitReset: null, updatedAtMs: 9 });
    assert.deepEqual(await store.find(key.hash), changed);
  });

  test('a deleted key is unknown to everything', async () => {
    const key = sampleKey();
    await store.insert(key);
    assert.equal(await store.remove(key.hash, 9), true);
    assert.equal(await store.find(key.hash), undefined);
    assert.deepEqual(await store.list({ includeDisabled: true, offset: 0, limit: 100 }), []);
    assert.equal(await store.update(key.hash, { name: 'x', updatedAtMs: 9 }), undefined);
    assert.equal(await store.remove(key.hash, 9), false);
  });

  test('a key of the other kind is neither changed nor deleted', async () => {
    const key = sampleKey({ kind: 'management' });
    await store.insert(key);
    assert.equal(await store.update(key.hash, { name: 'x', updatedAtMs: 9 }, 'normal'), undefined);
    assert.equal(await store.remove(key.hash, 9, 'normal'), false);
    assert.deepEqual(await store.find(key.hash), key);
  });

  test('a list is newest first, filtered and paged', async () => {
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

  test('first keys are inserted once, however many start together', async () => {
    const starts = ['1', '2', '3'].map((hash) => store.insertFirst([sampleKey({ hash })]));
    assert.deepEqual(
      (await Promise.all(starts)).filter((made) => made),
      [true],
    );
    assert.equal((await store.list({ includeDisabled: true, offset: 0, limit: 100 })).length, 1);
  });

  test('a store whose keys were all deleted gets no first keys', async () => {
    await store.insert(sampleKey());
    await store.remove(sampleKey().hash, 9);
    assert.equal(await store.insertFirst([sampleKey({ hash: 'b' })]), false);
  });

  test('every change is announced after its commit', async () => {
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

test('spend is summed by key, credential and window, exactly', async (context) => {
  const database = await openDatabase({ path: ':memory:', clock });
  context.after(() => database.close());
  const generations = createGenerationStore({ database, onLost: () => assert.fail('nothing is lost') });
  const spent = async (id: string, keyHash: string, createdAtMs: number, costNanoUsd: number | null, isByok = false) =>
    generations.append(sampleGeneration({ id, keyHash, createdAtMs, costNanoUsd, isByok }));
  await Promise.all([
    spent('1', 'a', 99, 1),
    spent('2', 'a', 100, 20),
    spent('3', 'a', 200, 300),
    spent('4', 'a', 300, 4_000),
    spent('5', 'a', 999, null),
    spent('6', 'a', 250, 50_000, true),
    spent('7', 'b', 300, 7),
    spent('8', 'c', 300, Number.MAX_SAFE_INTEGER),
    spent('9', 'c', 300, Number.MAX_SAFE_INTEGER),
  ]);
  const sums = await createKeyStore({ database }).sumSpend(['a', 'c', 'nobody'], {
    dayStartMs: 300,
    weekStartMs: 200,
    monthStartMs: 100,
  });
  const nothing = { total: 0, day: 0, week: 0, month: 0 };
  assert.deepEqual(sums.get('a'), {
    own: { total: 4_321, day: 4_000, week: 4_300, month: 4_320 },
    byok: { total: 50_000, day: 0, week: 50_000, month: 50_000 },
  });
  assert.deepEqual(sums.get('nobody'), { own: nothing, byok: nothing });
  assert.equal(sums.get('c')?.own.total, 2 * Number.MAX_SAFE_INTEGER);
  assert.equal(sums.size, 3);
});

test('spend is summed from an index, without touching the rows', async (context) => {
  const database = await openDatabase({ path: ':memory:', clock });
  context.after(() => database.close());
  const posts = context.mock.method(Worker.prototype, 'postMessage');
  await createKeyStore({ database }).sumSpend(['a', 'b'], { dayStartMs: 3, weekStartMs: 2, monthStartMs: 1 });
  const statement = String(posts.mock.calls[0]?.arguments[0].jobs[0].sql);
  posts.mock.restore();
  const plan = await sql.raw(`explain query plan ${statement.replaceAll('?', "''")}`).execute(database.kysely);
  assert.match(JSON.stringify(plan.rows), /USING COVERING INDEX generations_key_hash_created_at/);
});
