import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { Client } from 'pg';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../../store/engine/database.ts';
import { POSTGRES_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { checkDatabase } from './check-database.ts';

/** Of an embedded database that is never opened. */
const NOWHERE = '/nowhere/gateway.db';

suite('the embedded database', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'check-database-'));
  });
  after(() => rm(folder, { recursive: true }));

  test('is good where none was made yet, and once one was', async () => {
    const path = join(folder, 'gateway.db');
    assert.equal((await checkDatabase(undefined, path)).verdict, 'ok');
    await (await openDatabase({ path, clock })).close();
    assert.equal((await checkDatabase(undefined, path)).verdict, 'ok');
  });

  test('fails when it is something else, or is cut off', async () => {
    const path = join(folder, 'damaged.db');
    await writeFile(path, 'not a database at all, but long enough to be looked at');
    const { verdict, message } = await checkDatabase(undefined, path);
    assert.equal(verdict, 'failed');
    assert.match(message, /damaged\.db cannot be used \(file is not a database\): put a backup in its place/);
    await copyFile(join(folder, 'gateway.db'), path);
    await truncate(path, 20_000);
    assert.equal((await checkDatabase(undefined, path)).verdict, 'failed');
  });
});

test('fails for a server that is not there, without its password', async () => {
  const { verdict, message } = await checkDatabase('postgres://me:hunter2@127.0.0.1:1/x', NOWHERE);
  assert.equal(verdict, 'failed');
  assert.match(message, /^The database cannot be used \(PostgreSQL cannot be reached: .*ECONNREFUSED.*\): check/);
  assert.doesNotMatch(message, /hunter2/);
});

for (const { makePlace } of POSTGRES_ENGINES)
  suite('a PostgreSQL that is there', () => {
    let place: Place;
    let url = '';
    before(async () => {
      place = await makePlace();
      url = place.url ?? '';
    });
    after(() => place.remove());

    async function run(statement: string): Promise<readonly unknown[]> {
      const client = new Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(statement)).rows;
      } finally {
        await client.end();
      }
    }
    const setting = (options: string): string => `${url}?options=${encodeURIComponent(options)}`;

    test('is looked at, and nothing is made in it', async () => {
      const { verdict, message } = await checkDatabase(url, NOWHERE);
      // A busy machine answers slowly, which is a warning.
      const [, ms] = /^PostgreSQL \d+(?:\.\d+)? answers in (\d+\.\d) ms[.:]/.exec(message) ?? [];
      assert.equal(verdict, Number(ms) > 20 ? 'warning' : 'ok', message);
      assert.deepEqual(await run("select tablename from pg_tables where schemaname = 'public'"), []);
    });

    test('is a warning when it acknowledges what is not on its disk', async () => {
      const { verdict, message } = await checkDatabase(setting('-c synchronous_commit=off'), NOWHERE);
      assert.deepEqual([verdict, /synchronous_commit/.test(message)], ['warning', true]);
    });

    test('is a failure when there is no schema to make tables in', async () => {
      const { verdict, message } = await checkDatabase(setting('-c search_path=nowhere'), NOWHERE);
      assert.deepEqual([verdict, /may not make tables/.test(message)], ['failed', true]);
    });

    test('is a failure when a newer version of the gateway has been there', async () => {
      await (await openDatabase({ ...place, clock })).close();
      assert.notEqual((await checkDatabase(url, NOWHERE)).verdict, 'failed');
      await run("insert into schema_migrations (name, applied_at_ms) values ('9999-later', 1)");
      const { verdict, message } = await checkDatabase(url, NOWHERE);
      assert.deepEqual([verdict, /newer version of the gateway/.test(message)], ['failed', true]);
    });
  });
