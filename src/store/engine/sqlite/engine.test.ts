import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, mock, suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { systemClock as clock } from '../../../lib/clock.ts';
import { openDatabase, type Database } from '../database.ts';
import { createAppender } from '../../../../tests/support/store/append.ts';
import { withTimeout } from '../../../lib/async/with-timeout.ts';
import { sampleGeneration } from '../../../../tests/support/store/generations.ts';
import { insertKey, keyColumns, readHashes } from '../../../../tests/support/store/keys.ts';

/** Less than a write without retries waits for another process. */
const READ_MS_MAX = 1_500;

let folder = '';
let files = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'store-'));
});
after(() => rm(folder, { recursive: true }));

const newFile = (): string => join(folder, `${files++}.db`);

const PLACES = [
  ['in memory', () => ':memory:'],
  ['in a file', newFile],
] as const;

for (const [name, path] of PLACES)
  suite(`the embedded database ${name}`, () => {
    let database: Database;
    before(async () => {
      database = await openDatabase({ path: path(), clock });
    });
    after(() => database.close());
    const reset = () => database.kysely.deleteFrom('keys').execute();

    test('shows a read only what was committed before', async () => {
      await reset();
      const [, seen] = await Promise.all([insertKey(database, 'a'), readHashes(database)]);
      assert.deepEqual(seen, []);
    });

    test('sends and commits queued writes together', async () => {
      await reset();
      const posts = mock.method(Worker.prototype, 'postMessage');
      await Promise.all(Array.from({ length: 100 }, (_, index) => insertKey(database, `key-${index}`)));
      posts.mock.restore();
      assert.equal((await readHashes(database)).length, 100);
      assert.ok(posts.mock.callCount() <= 3, `${posts.mock.callCount()} messages`);
    });

    test('keeps other statements out of an open transaction', async () => {
      await reset();
      let outside: Promise<unknown> = Promise.resolve();
      const failed = database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('keys').values(keyColumns('inside')).execute();
        outside = insertKey(database, 'outside');
        await transaction.insertInto('keys').values(keyColumns('inside-too')).execute();
        throw new Error('on purpose');
      });
      await assert.rejects(failed, /on purpose/);
      await outside;
      assert.deepEqual(await readHashes(database), ['outside']);
    });

    test('runs transactions one after the other', async () => {
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
      assert.deepEqual(await readHashes(database), ['key-0', 'key-1', 'key-2']);
    });

    test('rolls back a transaction that takes too long, and goes on', async () => {
      await reset();
      mock.timers.enable({ apis: ['setTimeout'] });
      const stuck = database.kysely.transaction().execute(async (transaction) => {
        await transaction.insertInto('keys').values(keyColumns('stuck')).execute();
        mock.timers.tick(10_000);
        await insertKey(database, 'next');
        await transaction.insertInto('keys').values(keyColumns('late')).execute();
      });
      await assert.rejects(stuck, /taken too long/);
      mock.timers.reset();
      assert.deepEqual(await readHashes(database), ['next']);
    });

    test('enforces foreign keys', async () => {
      const { rows } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(database.kysely);
      assert.equal(rows[0]?.foreign_keys, 1);
    });
  });

test('puts a commit on the disk before it is acknowledged', async (context) => {
  const database = await openDatabase({ path: newFile(), clock });
  context.after(() => database.close());
  const read = async (name: string) =>
    Object.values((await sql.raw(`pragma ${name}`).execute(database.kysely)).rows[0] ?? {});
  assert.deepEqual(await read('journal_mode'), ['wal']);
  // The mode 2 is FULL.
  assert.deepEqual(await read('synchronous'), [2]);
});

test('lets two processes open a new file together and write', async (context) => {
  const path = newFile();
  const both = await Promise.all([openDatabase({ path, clock }), openDatabase({ path, clock })]);
  context.after(() => Promise.all(both.map((database) => database.close())));
  await Promise.all(
    both.flatMap((database, which) =>
      Array.from({ length: 100 }, (_, index) => insertKey(database, `${which}-${index}`)),
    ),
  );
  for (const database of both) assert.equal((await readHashes(database)).length, 200);
});

test('makes a write wait while another process holds the file', async (context) => {
  const path = newFile();
  const database = await openDatabase({ path, clock });
  context.after(() => database.close());
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const written = insertKey(database, 'a');
  setTimeout(() => other.exec('rollback'), 50);
  await written;
  other.close();
  assert.deepEqual(await readHashes(database), ['a']);
});

test('reads while a batch of a journal waits for another process', async (context) => {
  const path = newFile();
  const database = await openDatabase({ path, clock });
  context.after(() => database.close());
  const store = createAppender(database);
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const posts = mock.method(Worker.prototype, 'postMessage');
  const refused = assert.rejects(store.append(sampleGeneration()), /locked/);
  while (posts.mock.callCount() === 0) await turn();
  posts.mock.restore();
  assert.deepEqual(await withTimeout(readHashes(database), READ_MS_MAX), []);
  other.exec('rollback');
  other.close();
  await refused;
});

test('reads while a write that is sent again waits for another process', async (context) => {
  const path = newFile();
  const database = await openDatabase({ path, clock });
  context.after(() => database.close());
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const posts = mock.method(Worker.prototype, 'postMessage');
  const refused = assert.rejects(insertKey({ kysely: database.background }, 'a'), /locked/);
  while (posts.mock.callCount() === 0) await turn();
  posts.mock.restore();
  assert.deepEqual(await withTimeout(readHashes(database), READ_MS_MAX), []);
  other.exec('rollback');
  other.close();
  await refused;
  await insertKey({ kysely: database.background }, 'a');
  assert.deepEqual(await readHashes(database), ['a']);
});

test('ends every waiting job when the database thread dies', async (context) => {
  const database = await openDatabase({ path: ':memory:', clock });
  const posts = context.mock.method(Worker.prototype, 'postMessage');
  const results = Promise.allSettled([database.ping(), insertKey(database, 'a'), readHashes(database)]);
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  const worker: unknown = posts.mock.calls[0]?.this;
  assert.ok(worker instanceof Worker);
  await worker.terminate();
  // The jobs settle, with a result or an error.
  assert.equal((await results).length, 3);
  await assert.rejects(database.ping(), /thread has ended/);
  await assert.rejects(insertKey(database, 'b'), /thread has ended/);
  await assert.rejects(
    database.kysely.transaction().execute(async () => undefined),
    /thread has ended/,
  );
  await database.close();
});

test('refuses a file that is no database in one sentence', async () => {
  const path = newFile();
  await writeFile(path, 'this is not a database, '.repeat(100));
  await assert.rejects(openDatabase({ path, clock }), {
    message: `Cannot open the database ${path}: file is not a database`,
  });
});

test('refuses a folder that cannot be made in one sentence', async () => {
  const path = newFile();
  await writeFile(path, '');
  await assert.rejects(
    openDatabase({ path: join(path, 'gateway.db'), clock }),
    /^Error: Cannot open the database .*\.db: /,
  );
});
