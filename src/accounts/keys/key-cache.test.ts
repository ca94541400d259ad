import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { systemClock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../../store/engine/database.ts';
import { createKeyStore, type KeyStore } from '../../store/accounts/keys.ts';
import type { InvalidationBus } from '../../state/contract.ts';
import { createKeyCache, type KeyCache } from './key-cache.ts';
import { createKeys, type Keys } from './keys.ts';

/** Two processes on one database. */
suite('keys of several processes', () => {
  let database: Database;
  let keys: Keys;
  let cache: KeyCache;
  let announced: string[];
  let onMessage: (message: string) => void;
  let onGap: () => void;

  before(async () => {
    database = await openDatabase({ path: ':memory:', clock: systemClock });
  });
  after(() => database.close());
  beforeEach(async () => {
    await database.kysely.deleteFrom('keys').execute();
    announced = [];
    const first: InvalidationBus = {
      announce: (_topic, hash) => void announced.push(hash),
      subscribe: () => undefined,
    };
    keys = createKeys({ store: createKeyStore({ database, invalidations: first }), clock: systemClock });
    const second: InvalidationBus = {
      announce: () => assert.fail('what was heard is not passed on'),
      subscribe(_topic, listener, gap) {
        if (gap === undefined) onMessage = listener;
        else onGap = gap;
      },
    };
    const store: KeyStore = createKeyStore({ database, invalidations: second });
    cache = createKeyCache(store, systemClock);
  });

  async function create(): Promise<string> {
    const { record } = await keys.create({ name: 'one' });
    await cache.look(record.hash);
    return record.hash;
  }

  // @spec auth-14
  test('disables a key in other processes as soon as the announcement arrives', async () => {
    const hash = await create();
    announced = [];
    await keys.update(hash, { disabled: true });
    assert.deepEqual(announced, [hash]);
    assert.equal((await cache.look(hash))?.disabled, false);
    onMessage(hash);
    assert.equal((await cache.look(hash))?.disabled, true);
  });

  test('makes an unknown key known as soon as the announcement arrives', async () => {
    const hash = await create();
    await database.kysely.updateTable('keys').set({ deleted_at_ms: 1 }).execute();
    onMessage(hash);
    assert.equal(await cache.look(hash), undefined);
    await database.kysely.updateTable('keys').set({ deleted_at_ms: null }).execute();
    assert.equal(await cache.look(hash), undefined);
    onMessage(hash);
    assert.equal((await cache.look(hash))?.disabled, false);
  });

  test('reads every key again after a gap in the announcements', async () => {
    const hash = await create();
    await keys.update(hash, { disabled: true });
    assert.equal((await cache.look(hash))?.disabled, false);
    onGap();
    assert.equal((await cache.look(hash))?.disabled, true);
  });
});
