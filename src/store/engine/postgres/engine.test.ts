import assert from 'node:assert/strict';
import { after, before, suite, test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { startTcpProxy } from '../../../../tests/support/services/tcp-proxy.ts';
import { systemClock as clock } from '../../../lib/clock.ts';
import { DatabaseError } from '../database-error.ts';
import { openDatabase, type Database } from '../database.ts';
import { openTestJournal } from '../../../../tests/support/store/journal.ts';
import { createAppender } from '../../../../tests/support/store/append.ts';
import { createKeyStore } from '../../accounts/keys.ts';
import { POSTGRES_ENGINES, type Place } from '../../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../../tests/support/store/generations.ts';
import { openConnections } from './pool.ts';

for (const { makePlace } of POSTGRES_ENGINES)
  suite('PostgreSQL', () => {
    let place: Place;
    before(async () => {
      place = await makePlace();
      await (await openDatabase({ ...place, clock })).close();
    });
    after(() => place.remove());

    /** Opens the database through a network that can fail. */
    async function openThroughProxy(t: TestContext) {
      const { hostname, port } = new URL(place.url ?? '');
      const proxy = await startTcpProxy(t, { host: hostname, port: Number(port) });
      const url = new URL(place.url ?? '');
      url.hostname = '127.0.0.1';
      url.port = String(proxy.port);
      const database = await openDatabase({ path: '', url: url.href, clock });
      t.after(() => database.close());
      return { proxy, database };
    }

    const count = async (database: Database): Promise<number> => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from generations`.execute(database.kysely);
      return rows[0]?.count ?? 0;
    };

    test('reconnects to a server that went away and came back, and stores what waited once', async (t) => {
      const { proxy, database } = await openThroughProxy(t);
      const journal = await openTestJournal(t, database);
      await journal.record(sampleGeneration({ id: 'gen-before' }));
      await journal.settled();
      await proxy.cut();
      await assert.rejects(database.ping(), (error) => error instanceof DatabaseError && error.transient);
      for (const id of ['gen-during-1', 'gen-during-2']) await journal.record(sampleGeneration({ id }));
      await assert.rejects(database.ping(), /PostgreSQL cannot be reached: .*ECONNREFUSED/);
      assert.ok(journal.status().unapplied > 0);
      await proxy.restore();
      await journal.settled();
      await database.ping();
      assert.equal(await count(database), 3);
      assert.ok(journal.reported.every((each) => each.startsWith('store')));
      await journal.close();
    });

    test('replaces a session that the server ends', async (t) => {
      const database = await openDatabase({ ...place, clock });
      t.after(() => database.close());
      const ended = await sql`select pg_terminate_backend(pg_backend_pid())`
        .execute(database.kysely)
        .catch((error: unknown) => error);
      assert.ok(ended instanceof DatabaseError && ended.transient);
      await database.ping();
    });

    test('gives up waiting for a server that says nothing', async (t) => {
      const { proxy, database } = await openThroughProxy(t);
      await database.ping();
      proxy.stall();
      await assert.rejects(database.ping(), /PostgreSQL cannot be reached: Query read timeout/);
      proxy.resume();
      await database.ping();
    });

    test('ends a slow statement at the server, and uses its connection again', async (t) => {
      const connections = openConnections(place.url ?? '', { connectionsMax: 1, statementMsMax: 50 });
      t.after(() => connections.end());
      const pid = () => connections.run({ text: 'select pg_backend_pid() as pid', values: [] });
      const first = await pid();
      await assert.rejects(
        connections.run({ text: 'select pg_sleep(20)', values: [] }),
        (error) => error instanceof DatabaseError && error.transient && /statement timeout/.test(error.message),
      );
      assert.deepEqual(await pid(), first);
    });

    test('reports a number that a double cannot hold as an error, rather than another number', async (t) => {
      const database = await openDatabase({ ...place, clock });
      t.after(() => database.close());
      await assert.rejects(
        sql`select 9007199254740993 as big`.execute(database.kysely),
        /too large to be read exactly/,
      );
      await database.ping();
    });

    test('reads a key while reports keep all their connections busy', async (t) => {
      const database = await openDatabase({ ...place, clock });
      t.after(() => database.close());
      const waiting: Promise<unknown>[] = [];
      await database.kysely.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(1)`.execute(transaction);
        for (let index = 0; index < 12; index++)
          waiting.push(sql`select pg_advisory_xact_lock(1)`.execute(database.reports));
        assert.equal(await createKeyStore({ database }).find('a'.repeat(64)), undefined);
      });
      await Promise.all(waiting);
    });

    test('stores a charge while every other connection is busy', async (t) => {
      const database = await openDatabase({ ...place, clock });
      t.after(() => database.close());
      const store = createAppender(database);
      const reports: Promise<unknown>[] = [];
      await database.kysely.transaction().execute(async (transaction) => {
        await sql`select pg_advisory_xact_lock(2)`.execute(transaction);
        for (let index = 0; index < 12; index++)
          reports.push(sql`select pg_advisory_xact_lock(2)`.execute(database.kysely));
        await store.append(sampleGeneration({ id: 'beside' }));
      });
      await Promise.all(reports);
    });

    test('reports a server that is away, or refuses the login, in one sentence without the password', async () => {
      const absent = new URL(place.url ?? '');
      absent.username = 'gateway_test_nobody';
      absent.password = 'hunter2';
      for (const url of [absent.href, 'postgres://me:hunter2@127.0.0.1:1/x']) {
        const error: unknown = await openDatabase({ path: '', url, clock }).catch((thrown: unknown) => thrown);
        assert.ok(error instanceof Error);
        assert.match(error.message, /^Cannot open the database postgres:\/\/\S+: [^\n]+$/);
        assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause, String(error.cause)]), /hunter2/);
      }
    });
  });
