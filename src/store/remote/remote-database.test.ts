import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openMessageLink, type MessageLink } from '../../lib/net/message-link.ts';
import { keyResource } from '../../resources/keys.ts';
import { createKeyStore } from '../accounts/keys.ts';
import { DatabaseError } from '../engine/database-error.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createTaskTrafficStore } from '../usage/task-traffic.ts';
import { connectPair } from '../../../tests/support/services/socket-pair.ts';
import { ALL_ENGINES, type TestEngine } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { mustAgree, openTestJournal, storedIds } from '../../../tests/support/store/journal.ts';
import { createRemoteDatabase } from './remote-database.ts';
import { serveStore, type StoreProcedures } from './serve-store.ts';

interface Opened {
  readonly database: Database;
  readonly link: MessageLink<StoreProcedures>;
}

async function open(t: TestContext, { makePlace }: TestEngine): Promise<Opened> {
  const place = await makePlace();
  const database = await openDatabase({ ...place, clock });
  t.after(async () => {
    await database.close();
    await place.remove();
  });
  const { near, far } = await connectPair(t);
  openMessageLink(far, () => serveStore(database));
  return { database, link: openMessageLink<StoreProcedures>(near, () => ({})) };
}

const KEY = keyResource.newRow({
  hash: 'a'.repeat(64),
  label: 'mgw-abc...wxyz',
  name: 'Key \u{1F511}',
  createdAtMs: 1_790_000_000_000,
  workspaceId: 'workspace-1',
});

for (const engine of ALL_ENGINES)
  suite(`the remote database: ${engine.name}`, () => {
    test('reads and changes the same rows as the database itself', async (t) => {
      const { database, link } = await open(t, engine);
      const remote = createRemoteDatabase(link, database.engine);
      const [near, far] = [createKeyStore({ database: remote }), createKeyStore({ database })];
      await far.insert(KEY);
      assert.deepEqual(await near.find(KEY.hash), KEY);
      assert.equal((await near.update(KEY.hash, { name: 'Other', updatedAtMs: 1 }))?.name, 'Other');
      assert.equal((await far.find(KEY.hash))?.name, 'Other');
      assert.equal(await near.remove(KEY.hash, 2), true);
      assert.equal(await near.find(KEY.hash), undefined);
      assert.deepEqual(await createTaskTrafficStore(remote).read(0, 1), []);
      await remote.ping();
    });

    test('fails as the database does', async (t) => {
      const { database, link } = await open(t, engine);
      const remote = createKeyStore({ database: createRemoteDatabase(link, database.engine) });
      await remote.insert(KEY);
      await assert.rejects(remote.insert(KEY), (error) => error instanceof DatabaseError && error.duplicate);
    });

    test("stores the worker's journal, which is read where the database is", async (t) => {
      const { database, link } = await open(t, engine);
      const journal = await openTestJournal(t, createRemoteDatabase(link, database.engine));
      await journal.record(sampleGeneration({ id: 'gen-of-worker' }));
      await journal.caughtUp();
      assert.deepEqual(await storedIds(database), ['gen-of-worker']);
      await mustAgree(database);
      await journal.close();
      assert.deepEqual(journal.reported, []);
    });

    test('tells a journal that waits from one whose record is refused', async (t) => {
      const { database, link } = await open(t, engine);
      const journal = await openTestJournal(t, createRemoteDatabase(link, database.engine), { closeMsMax: 0 });
      const broken = sampleGeneration({ id: 'gen-broken' });
      Reflect.set(broken, 'region', null);
      await journal.record(broken);
      await journal.settled();
      assert.match(journal.reported.join(), /^lost gen-broken/);
      link.close();
      await link.closed;
      await journal.record(sampleGeneration({ id: 'gen-late' }));
      await assert.rejects(async () => journal.caughtUp(), /Records wait to be stored/);
      assert.ok(journal.reported.includes('store stuck'));
      await journal.close();
    });
  });

const [engine] = ALL_ENGINES;
assert.ok(engine !== undefined);

test('begins no transaction', async (t) => {
  const { database, link } = await open(t, engine);
  const remote = createRemoteDatabase(link, database.engine);
  await assert.rejects(remote.runAlone('refund', () => Promise.resolve()));
});
