import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { DatabaseError } from './database-error.ts';
import { openDatabase, type Database } from './database.ts';
import { ALL_ENGINES, ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { insertKey, keyColumns, readHashes } from '../../../tests/support/store/keys.ts';

for (const { name, makePlace } of ALL_ENGINES)
  suite(`the database: ${name}`, () => {
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
    const reset = () => database.kysely.deleteFrom('keys').execute();

    test('shows a write to a read that starts after it', async () => {
      await reset();
      await insertKey(database, 'a');
      assert.deepEqual(await readHashes(database), ['a']);
    });

    test('fails a refused write alone', async () => {
      await reset();
      const results = await Promise.allSettled(['a', 'b', 'a', 'c'].map((hash) => insertKey(database, hash)));
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(await readHashes(database), ['a', 'b', 'c']);
    });

    test('counts the changed rows', async () => {
      await reset();
      await insertKey(database, 'a');
      await insertKey(database, 'b');
      const { numUpdatedRows } = await database.kysely
        .updateTable('keys')
        .set({ name: 'other' })
        .where('hash', '=', 'b')
        .executeTakeFirst();
      assert.equal(numUpdatedRows, 1n);
    });

    test('rolls back a transaction that throws', async () => {
      await reset();
      const failed = database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('keys').values(keyColumns('a')).execute();
        throw new Error('on purpose');
      });
      await assert.rejects(failed, /on purpose/);
      assert.deepEqual(await readHashes(database), []);
    });

    test('refuses a value that no column can hold before it is sent', async () => {
      const query = database.kysely
        .selectFrom('keys')
        .selectAll()
        .where(sql`hash`, '=', { injected: true });
      await assert.rejects(query.execute(), TypeError);
    });

    test('says why a write was refused, as a permanent error', async () => {
      await reset();
      await insertKey(database, 'a');
      await assert.rejects(insertKey(database, 'a'), (error: unknown) => {
        assert.ok(error instanceof DatabaseError);
        assert.match(error.message, /UNIQUE constraint failed: keys\.hash|unique constraint "keys_pkey"/);
        assert.deepEqual([error.transient, error.duplicate], [false, true]);
        assert.equal(error.cause, undefined);
        return true;
      });
    });

    test('returns whole numbers exactly, as numbers', async () => {
      await reset();
      await insertKey(database, 'a');
      for (const limit of [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0]) {
        await database.kysely.updateTable('keys').set({ limit_nano_usd: limit }).execute();
        const row = await database.kysely.selectFrom('keys').select('limit_nano_usd').executeTakeFirstOrThrow();
        assert.equal(row.limit_nano_usd, limit);
      }
    });

    test('stores text without the characters that no database can hold', async () => {
      await reset();
      await insertKey(database, 'a\0b\ud83d \u{1f4a5}');
      assert.deepEqual(await readHashes(database), ['a\uFFFDb\uFFFD \u{1f4a5}']);
    });

    test('runs tasks under one name one at a time', async () => {
      await reset();
      const addNext = () =>
        database.runAlone('first-keys', async (transaction) => {
          const all = await transaction.selectFrom('keys').select('hash').execute();
          await transaction
            .insertInto('keys')
            .values(keyColumns(`key-${all.length}`))
            .execute();
        });
      await Promise.all([addNext(), addNext(), addNext()]);
      assert.deepEqual(await readHashes(database), ['key-0', 'key-1', 'key-2']);
    });

    test('answers a ping', () => database.ping());
  });

for (const { name, makePlace } of ENGINES)
  suite(`opening and closing: ${name}`, () => {
    test('finishes accepted writes at the close, and refuses later ones', async (context) => {
      const place = await makePlace();
      const database = await openDatabase({ ...place, clock });
      const accepted = Array.from({ length: 50 }, (_, index) => insertKey(database, `key-${index}`));
      const transaction = database.kysely
        .transaction()
        .execute((inner) => inner.insertInto('keys').values(keyColumns('transaction')).execute());
      // Kysely sends a query a few promises after it was created.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      await database.close();
      await Promise.all([...accepted, transaction]);
      await assert.rejects(insertKey(database, 'late'), /closed/);
      await assert.rejects(database.ping(), /closed/);
      await database.close();
      const again = await openDatabase({ ...place, clock });
      context.after(async () => {
        await again.close();
        await place.remove();
      });
      assert.equal((await readHashes(again)).length, 51);
    });

    test('lets several processes open a new database together and write', async (context) => {
      const place = await makePlace();
      const all = await Promise.all([1, 2, 3].map(() => openDatabase({ ...place, clock })));
      context.after(async () => {
        await Promise.all(all.map((database) => database.close()));
        await place.remove();
      });
      await Promise.all(
        all.flatMap((database, which) =>
          Array.from({ length: 100 }, (_, index) => insertKey(database, `${which}-${index}`)),
        ),
      );
      for (const database of all) assert.equal((await readHashes(database)).length, 300);
    });

    test('refuses a schema of a newer version in one sentence, and leaves it as it is', async (context) => {
      const place = await makePlace();
      context.after(() => place.remove());
      const database = await openDatabase({ ...place, clock });
      await database.kysely.insertInto('schema_migrations').values({ name: '9999-later', applied_at_ms: 1 }).execute();
      await database.close();
      await assert.rejects(
        openDatabase({ ...place, clock }),
        /newer version of the gateway \(it has the migration 9999-later/,
      );
    });
  });
