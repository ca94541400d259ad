import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { Client } from 'pg';
import { systemClock as clock } from '../lib/clock.ts';
import { openDatabase } from '../store/database.ts';
import { POSTGRES_ENGINES, type Place } from '../store/test-engines.ts';
import { checkDatabase } from './check-database.ts';

test('the embedded database needs no look', async () => {
  assert.equal((await checkDatabase(undefined)).verdict, 'ok');
});

test('a server that is not there is a failure, and its password is not said', async () => {
  const { verdict, message } = await checkDatabase('postgres://me:hunter2@127.0.0.1:1/x');
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
      const { verdict, message } = await checkDatabase(url);
      assert.equal(verdict, 'ok', message);
      assert.match(message, /^PostgreSQL \d+(\.\d+)? answers in \d+\.\d ms\.$/);
      assert.deepEqual(await run("select tablename from pg_tables where schemaname = 'public'"), []);
    });

    test('is a warning when it acknowledges what is not on its disk', async () => {
      const { verdict, message } = await checkDatabase(setting('-c synchronous_commit=off'));
      assert.deepEqual([verdict, /synchronous_commit/.test(message)], ['warning', true]);
    });

    test('is a failure when there is no schema to make tables in', async () => {
      const { verdict, message } = await checkDatabase(setting('-c search_path=nowhere'));
      assert.deepEqual([verdict, /may not make tables/.test(message)], ['failed', true]);
    });

    test('is a failure when a newer version of the gateway has been there', async () => {
      await (await openDatabase({ ...place, clock })).close();
      assert.equal((await checkDatabase(url)).verdict, 'ok');
      await run("insert into schema_migrations (name, applied_at_ms) values ('9999-later', 1)");
      const { verdict, message } = await checkDatabase(url);
      assert.deepEqual([verdict, /newer version of the gateway/.test(message)], ['failed', true]);
    });
  });
