import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, mock, suite, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { systemClock as clock } from '../lib/clock.ts';
import { DatabaseError } from './database-error.ts';
import { openDatabase, type Database } from './database.ts';
import type { KeysTable } from './tables.ts';

let folder = '';
let files = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
});
after(() => rm(folder, { recursive: true }));

const newFile = (): string => join(folder, `${files++}.db`);

function keyColumns(hash: string): KeysTable {
  return {
    hash,
    label: 'label',
    name: 'name',
    kind: 'normal',
    disabled: 0,
    created_at_ms: 1,
    updated_at_ms: null,
    expires_at_ms: null,
    limit_nano_usd: null,
    limit_reset: null,
    include_byok_in_limit: 0,
    creator_user_id: null,
    workspace_id: 'workspace',
    deleted_at_ms: null,
  };
}

const insert = (database: Database, hash: string) =>
  database.kysely.insertInto('keys').values(keyColumns(hash)).execute();

async function hashes(database: Database): Promise<readonly string[]> {
  const rows = await database.kysely.selectFrom('keys').select('hash').orderBy('hash').execute();
  return rows.map(({ hash }) => hash);
}

const PLACES = [
  ['in memory', () => ':memory:'],
  ['in a file', newFile],
] as const;

for (const [name, path] of PLACES)
  suite(`the database ${name}`, () => {
    let database: Database;
    before(async () => {
      database = await openDatabase({ path: path(), clock });
    });
    after(() => database.close());
    const reset = () => database.kysely.deleteFrom('keys').execute();

    test('a write is seen by a read that starts after it', async () => {
      await reset();
      await insert(database, 'a');
      assert.deepEqual(await hashes(database), ['a']);
    });

    test('a read sees only what was committed before', async () => {
      await reset();
      const [, seen] = await Promise.all([insert(database, 'a'), hashes(database)]);
      assert.deepEqual(seen, []);
    });

    test('writes that queue up travel and commit together', async () => {
      await reset();
      const posts = mock.method(Worker.prototype, 'postMessage');
      await Promise.all(Array.from({ length: 100 }, (_, index) => insert(database, `key-${index}`)));
      posts.mock.restore();
      assert.equal((await hashes(database)).length, 100);
      assert.ok(posts.mock.callCount() <= 3, `${posts.mock.callCount()} messages`);
    });

    test('a write that is refused fails alone', async () => {
      await reset();
      const results = await Promise.allSettled(['a', 'b', 'a', 'c'].map((hash) => insert(database, hash)));
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
      );
      assert.deepEqual(await hashes(database), ['a', 'b', 'c']);
    });

    test('a refused write says why, as an error that trying again will not mend', async () => {
      await reset();
      await insert(database, 'a');
      await assert.rejects(insert(database, 'a'), (error: unknown) => {
        assert.ok(error instanceof DatabaseError);
        assert.match(error.message, /UNIQUE constraint failed: keys\.hash/);
        assert.equal(error.transient, false);
        return true;
      });
    });

    test('changes are counted', async () => {
      await reset();
      await insert(database, 'a');
      await insert(database, 'b');
      const { numUpdatedRows } = await database.kysely
        .updateTable('keys')
        .set({ name: 'other' })
        .where('hash', '=', 'b')
        .executeTakeFirst();
      assert.equal(numUpdatedRows, 1n);
    });

    test('a transaction that throws leaves nothing behind', async () => {
      await reset();
      const failed = database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('keys').values(keyColumns('a')).execute();
        throw new Error('on purpose');
      });
      await assert.rejects(failed, /on purpose/);
      assert.deepEqual(await hashes(database), []);
    });

    test("nobody's statements run inside the transaction of another", async () => {
      await reset();
      let outside: Promise<unknown> = Promise.resolve();
      const failed = database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('keys').values(keyColumns('inside')).execute();
        outside = insert(database, 'outside');
        await transaction.insertInto('keys').values(keyColumns('inside-too')).execute();
        throw new Error('on purpose');
      });
      await assert.rejects(failed, /on purpose/);
      await outside;
      assert.deepEqual(await hashes(database), ['outside']);
    });

    test('transactions run one after the other', async () => {
      await reset();
      const addNext = () =>
        database.kysely.transaction().execute(async (transaction) => {
          const all = await transaction.selectFrom('keys').select('hash').execute();
          await transaction
            .insertInto('keys')
            .values(keyColumns(`key-${all.length}`))
            .execute();
        });
      await Promise.all([addNext(), addNext(), addNext()]);
      assert.deepEqual(await hashes(database), ['key-0', 'key-1', 'key-2']);
    });

    test('a transaction that takes too long is rolled back and holds nobody up', async () => {
      await reset();
      mock.timers.enable({ apis: ['setTimeout'] });
      const stuck = database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('keys').values(keyColumns('stuck')).execute();
        mock.timers.tick(10_000);
        await insert(database, 'next');
        await transaction.insertInto('keys').values(keyColumns('late')).execute();
      });
      await assert.rejects(stuck, /taken too long/);
      mock.timers.reset();
      assert.deepEqual(await hashes(database), ['next']);
    });

    test('a value that no column can hold is refused before it is sent', async () => {
      const query = database.kysely
        .selectFrom('keys')
        .selectAll()
        .where(sql`hash`, '=', { injected: true });
      await assert.rejects(query.execute(), TypeError);
    });

    test('one statement runs for many rows, and refused rows are named', async () => {
      await reset();
      const columns = keyColumns('sample');
      const statement = database.kysely.insertInto('keys').values(columns).compile();
      const rows = ['a', 'b', 'a', 'c'].map((hash) => Object.values({ ...columns, hash }));
      const refused = await database.runMany(statement, rows);
      assert.deepEqual(
        refused.map(({ index }) => index),
        [2],
      );
      assert.deepEqual(await hashes(database), ['a', 'b', 'c']);
    });

    test('foreign keys are enforced', async () => {
      const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(database.kysely);
      assert.equal(rows[0]?.foreign_keys, 1);
    });

    test('it answers a ping', () => database.ping());
  });

test('closing lets what was accepted finish and refuses what comes later', async (context) => {
  const path = newFile();
  const database = await openDatabase({ path, clock });
  const accepted = Array.from({ length: 50 }, (_, index) => insert(database, `key-${index}`));
  const transaction = database.kysely
    .transaction()
    .execute((inner) => inner.insertInto('keys').values(keyColumns('transaction')).execute());
  // Kysely hands a query over a few promises after it was asked for.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  await database.close();
  await Promise.all([...accepted, transaction]);
  await assert.rejects(insert(database, 'late'), /closed/);
  await assert.rejects(database.ping(), /closed/);
  await database.close();
  const again = await openDatabase({ path, clock });
  context.after(() => again.close());
  assert.equal((await hashes(again)).length, 51);
});

test('a commit is on the disk before it is acknowledged', async (context) => {
  const database = await openDatabase({ path: newFile(), clock });
  context.after(() => database.close());
  const read = async (name: string) =>
    Object.values((await sql.raw(`pragma ${name}`).execute(database.kysely)).rows[0] ?? {});
  assert.deepEqual(await read('journal_mode'), ['wal']);
  // 2 is FULL.
  assert.deepEqual(await read('synchronous'), [2]);
});

test('two processes may open a new file together and both write', async (context) => {
  const path = newFile();
  const both = await Promise.all([openDatabase({ path, clock }), openDatabase({ path, clock })]);
  context.after(() => Promise.all(both.map((database) => database.close())));
  await Promise.all(
    both.flatMap((database, which) => Array.from({ length: 100 }, (_, index) => insert(database, `${which}-${index}`))),
  );
  for (const database of both) assert.equal((await hashes(database)).length, 200);
});

test('a write waits while another process holds the file', async (context) => {
  const path = newFile();
  const database = await openDatabase({ path, clock });
  context.after(() => database.close());
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const written = insert(database, 'a');
  setTimeout(() => other.exec('rollback'), 50);
  await written;
  other.close();
  assert.deepEqual(await hashes(database), ['a']);
});

test('when the database thread dies nobody waits for it', async (context) => {
  const database = await openDatabase({ path: ':memory:', clock });
  const posts = context.mock.method(Worker.prototype, 'postMessage');
  const results = Promise.allSettled([database.ping(), insert(database, 'a'), hashes(database)]);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  const worker: unknown = posts.mock.calls[0]?.this;
  assert.ok(worker instanceof Worker);
  await worker.terminate();
  // Whatever came of them, they settle.
  assert.equal((await results).length, 3);
  await assert.rejects(database.ping(), /thread has ended/);
  await assert.rejects(insert(database, 'b'), /thread has ended/);
  await assert.rejects(
    database.kysely.transaction().execute(async () => undefined),
    /thread has ended/,
  );
  await database.close();
});

test('a file that is no database is refused in one sentence', async () => {
  const path = newFile();
  await writeFile(path, 'this is not a database, '.repeat(100));
  await assert.rejects(openDatabase({ path, clock }), {
    message: `Cannot open the database ${path}: file is not a database`,
  });
});

test('a folder that cannot be made is refused in one sentence', async () => {
  const path = newFile();
  await writeFile(path, '');
  await assert.rejects(
    openDatabase({ path: join(path, 'gateway.db'), clock }),
    /^Error: Cannot open the database .*\.db: /,
  );
});

test('a schema of a newer version is refused in one sentence, and left as it is', async () => {
  const path = newFile();
  const database = await openDatabase({ path, clock });
  await database.kysely.insertInto('schema_migrations').values({ name: '9999-later', applied_at_ms: 1 }).execute();
  await database.close();
  await assert.rejects(openDatabase({ path, clock }), /newer version of the gateway \(it has the migration 9999-later/);
});
