import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { openDatabase, type Database } from '../../store/engine/database.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import { createKeyStore } from '../../store/accounts/keys.ts';
import { sampleCharges, sampleGeneration } from '../../../tests/support/store/generations.ts';
import { hashKey } from './key-format.ts';
import { samplePrincipal } from '../../../tests/support/principal.ts';
import { createKeys, type Keys } from './keys.ts';

/** A Wednesday. */
const NOON_MS = Date.parse('2026-11-25T12:00:00Z');
const DAY_MS = 86_400_000;
const clock = { nowMs: () => NOON_MS, monotonicMs: () => 0 };
const notFound = (error: unknown): boolean => error instanceof GatewayError && error.status === 404;

suite('keys', () => {
  let database: Database;
  let generations: ReturnType<typeof createAppender>;
  let keys: Keys;
  let spent = 0;
  before(async () => {
    database = await openDatabase({ path: ':memory:', clock });
    generations = createAppender(database);
  });
  after(async () => {
    await database.close();
  });
  beforeEach(async () => {
    await database.kysely.deleteFrom('keys').execute();
    keys = createKeys({ store: createKeyStore({ database }), clock });
  });

  const spend = (keyHash: string, daysAgo: number, nanoUsd: number, isByok = false): Promise<void> => {
    const row = sampleGeneration({
      id: `gen-${spent++}`,
      keyHash,
      createdAtMs: NOON_MS - daysAgo * DAY_MS,
      costNanoUsd: isByok ? 0 : nanoUsd,
      listCostNanoUsd: isByok ? nanoUsd : null,
      isByok,
    });
    return generations.append(row, sampleCharges(row));
  };

  // @spec auth-10
  test('stores a new key by its hash, and its text nowhere', async () => {
    const { record, key } = await keys.create({ name: 'App' });
    assert.equal(record.hash, hashKey(key));
    assert.deepEqual(await keys.get(record.hash), record);
    const tables = JSON.stringify(await database.kysely.selectFrom('keys').selectAll().execute());
    assert.ok(!tables.includes(key.slice(8)));
  });

  // @spec key-1
  test('fills in the documented defaults', async () => {
    const { record } = await keys.create({ name: 'App' });
    const { kind, disabled, expiresAtMs, limitNanoUsd, limitReset, includeByokInLimit, creatorUserId } = record;
    assert.deepEqual(
      { kind, disabled, expiresAtMs, limitNanoUsd, limitReset, includeByokInLimit, creatorUserId },
      {
        kind: 'normal',
        disabled: false,
        expiresAtMs: null,
        limitNanoUsd: null,
        limitReset: null,
        includeByokInLimit: false,
        creatorUserId: null,
      },
    );
    assert.equal(record.updatedAtMs, null);
    assert.equal(record.limitRemainingNanoUsd, null);
  });

  // @spec key-9
  test('computes the rest of a limit in its window', async () => {
    const { record } = await keys.create({ name: 'App', limitNanoUsd: 1_000, limitReset: 'daily' });
    await spend(record.hash, 0, 1);
    await spend(record.hash, 1, 20);
    await spend(record.hash, 5, 300);
    await spend(record.hash, 40, 4_000);
    const left = async (limitReset: 'daily' | 'weekly' | 'monthly' | null) =>
      (await keys.update(record.hash, { limitReset })).limitRemainingNanoUsd;
    assert.equal(await left('daily'), 999);
    assert.equal(await left('weekly'), 979);
    assert.equal(await left('monthly'), 679);
    assert.equal(await left(null), -3_321);
  });

  test("counts spending with callers' credentials against a limit only when the key says so", async () => {
    const { record } = await keys.create({ name: 'App', limitNanoUsd: 100 });
    await spend(record.hash, 0, 10);
    await spend(record.hash, 0, 50, true);
    assert.equal((await keys.get(record.hash)).limitRemainingNanoUsd, 90);
    assert.equal((await keys.update(record.hash, { includeByokInLimit: true })).limitRemainingNanoUsd, 40);
  });

  test('dates a change, but not an empty one', async () => {
    const { record } = await keys.create({ name: 'App' });
    assert.equal((await keys.update(record.hash, {})).updatedAtMs, null);
    assert.equal((await keys.update(record.hash, { name: 'Other' })).updatedAtMs, NOON_MS);
  });

  // @spec key-7
  test('answers 404 for an unknown hash, a text that is no hash and a key of the other kind', async () => {
    const { record } = await keys.create({ name: 'Admin', kind: 'management' });
    for (const hash of ['0'.repeat(64), "x' or 1=1 --"]) {
      await assert.rejects(keys.get(hash), notFound);
      await assert.rejects(keys.update(hash, { name: 'x' }), notFound);
      await assert.rejects(keys.delete(hash), notFound);
    }
    await assert.rejects(keys.get(record.hash, 'normal'), notFound);
    await assert.rejects(keys.update(record.hash, {}, 'normal'), notFound);
    await assert.rejects(keys.update(record.hash, { name: 'x' }, 'normal'), notFound);
    await assert.rejects(keys.delete(record.hash, 'normal'), notFound);
  });

  test('deletes a key once', async () => {
    const { record } = await keys.create({ name: 'App' });
    await keys.delete(record.hash);
    await assert.rejects(keys.get(record.hash), notFound);
    await assert.rejects(keys.delete(record.hash), notFound);
  });

  // @spec key-12
  test('gives an empty store one key of each kind, once', async () => {
    const first = await keys.bootstrap();
    assert.ok(first !== undefined);
    assert.equal((await keys.get(hashKey(first.managementKey))).kind, 'management');
    assert.equal((await keys.get(hashKey(first.apiKey))).kind, 'normal');
    assert.equal(await keys.bootstrap(), undefined);
  });

  // @spec key-12
  test('makes no keys where the environment supplies one', async () => {
    assert.equal(await keys.bootstrap({ normal: 'a-key' }), undefined);
    assert.equal(await keys.bootstrap({ management: 'a-key' }), undefined);
    assert.deepEqual(await keys.list({ includeDisabled: true, offset: 0, limit: 100 }), []);
  });

  test('describes a key from the environment with its spending and no limit', async () => {
    const keyHash = hashKey('a-key-of-the-environment');
    await spend(keyHash, 0, 70);
    const record = await keys.describe(samplePrincipal({ keyHash, name: 'GATEWAY_API_KEY' }));
    assert.equal(record.own.total, 70);
    assert.equal(record.limitNanoUsd, null);
    assert.equal(record.kind, 'normal');
  });
});
