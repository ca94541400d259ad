import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openMessageLink, type MessageLink } from '../../lib/net/message-link.ts';
import { keyResource } from '../../resources/keys.ts';
import { createKeyStore } from '../accounts/keys.ts';
import { DatabaseError } from '../engine/database-error.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import type { GenerationStore } from '../generations/generations.ts';
import { createLedgerStore } from '../usage/ledger.ts';
import { createTaskTrafficStore } from '../usage/task-traffic.ts';
import { connectPair } from '../../../tests/support/services/socket-pair.ts';
import { ALL_ENGINES, type TestEngine } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { createRemoteDatabase } from './remote-database.ts';
import { createRemoteGenerations } from './remote-generations.ts';
import { serveStore, type ServedStore, type StoreProcedures } from './serve-store.ts';

interface Opened {
  readonly database: Database;
  readonly link: MessageLink<StoreProcedures>;
  readonly served: ServedStore;
}

async function open(
  t: TestContext,
  { makePlace }: TestEngine,
  generations: Pick<GenerationStore, 'append' | 'isBehind'>,
): Promise<Opened> {
  const place = await makePlace();
  const database = await openDatabase({ ...place, clock });
  t.after(async () => {
    await database.close();
    await place.remove();
  });
  const { near, far } = await connectPair(t);
  const served = serveStore(database, generations);
  openMessageLink(far, () => served.procedures);
  return { database, served, link: openMessageLink<StoreProcedures>(near, () => ({})) };
}

const IDLE: Pick<GenerationStore, 'append' | 'isBehind'> = { append: () => Promise.resolve(), isBehind: () => false };

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
      const { database, link } = await open(t, engine, IDLE);
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
      const { database, link } = await open(t, engine, IDLE);
      const remote = createKeyStore({ database: createRemoteDatabase(link, database.engine) });
      await remote.insert(KEY);
      await assert.rejects(remote.insert(KEY), (error) => error instanceof DatabaseError && error.duplicate);
    });

    test('gives no sum of spending while charges wait to be stored', async (t) => {
      let isBehind = true;
      const { database, link } = await open(t, engine, { ...IDLE, isBehind: () => isBehind });
      const ledger = createLedgerStore({ database: createRemoteDatabase(link, database.engine).sums });
      await assert.rejects(ledger.balance('default'), (error) => error instanceof DatabaseError && error.transient);
      isBehind = false;
      assert.equal(await ledger.balance('default'), 0);
    });
  });

const [engine] = ALL_ENGINES;
assert.ok(engine !== undefined);

test('begins no transaction', async (t) => {
  const { database, link } = await open(t, engine, IDLE);
  const remote = createRemoteDatabase(link, database.engine);
  await assert.rejects(remote.runAlone('refund', () => Promise.resolve()));
});

test('sends records and returns when they are stored', async (t) => {
  const stored = Promise.withResolvers<void>();
  const appended: unknown[] = [];
  const { link, served } = await open(t, engine, {
    ...IDLE,
    append(row, charges) {
      appended.push(row, charges);
      return stored.promise;
    },
  });
  const row = sampleGeneration();
  const generations = createRemoteGenerations(link, () => assert.fail('it is not lost'));
  const ends: string[] = [];
  const appending = generations.append(row).then(() => ends.push('appended'));
  await link.call('ping', undefined);
  const all = served.stored().then(() => ends.push('all stored'));
  assert.deepEqual([appended, ends], [[row, { entries: [], spend: [] }], []]);
  stored.resolve();
  await Promise.all([appending, all]);
  assert.equal(ends.length, 2);
});

test('reports a record that the first process did not take', async (t) => {
  const { link } = await open(t, engine, IDLE);
  link.close();
  await link.closed;
  const lost: string[] = [];
  await createRemoteGenerations(link, ({ id }) => lost.push(id)).append(sampleGeneration());
  assert.deepEqual(lost, ['gen-sample']);
});
