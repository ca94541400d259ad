import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DestinationRow } from '../../../resources/destinations.ts';
import { openDatabase, type Database } from '../../../store/engine/database.ts';
import { createCursors, type Cursors } from '../../../store/exports/cursors.ts';
import { createExportRows, type ExportRows } from '../../../store/exports/export-rows.ts';
import { encodeGeneration, framesOf, GENERATION_COLUMNS } from '../../../store/journal/record.ts';
import { createRandom, readSeed, seedOf, type Random } from '../../../../tests/support/random.ts';
import { sampleGeneration } from '../../../../tests/support/store/generations.ts';
import type { ExportedGeneration, Verdict } from '../contract.ts';
import type { LiveDestination } from '../destinations.ts';
import { cleanUpExports } from './clean-up.ts';
import { judgeStatus } from './judge.ts';
import { Sender, type ExportOutcome } from './sender.ts';

const WORKSPACE = 'workspace-1';
const CREATED_MS = 1_790_000_000_000;
const ENDED_MS = CREATED_MS + 201;

interface World {
  readonly database: Database;
  readonly rows: ExportRows;
  readonly cursors: Cursors;
  readonly clock: { nowMs: () => number; monotonicMs: () => number };
  readonly time: { aheadMs: number };
  /** What a destination answers to these records. */
  answer: (id: string, records: readonly string[]) => number | Promise<number>;
  judge: (status: number, count: number) => Verdict;
  onState: (state: string) => void;
  catchUpMs: number;
  /** Calls that were made, by destination. */
  readonly calls: { readonly id: string; readonly records: readonly string[] }[];
  readonly outcomes: Record<ExportOutcome, number>;
  add(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  store(ids: readonly string[]): Promise<void>;
  sender(id: string, recordsAtOnce?: number): Sender;
  cleanUp(retentionMs: number, bytesMax: number): Promise<void>;
}

async function open(t: TestContext): Promise<World> {
  const time = { aheadMs: 0 };
  const clock = { nowMs: () => ENDED_MS + time.aheadMs, monotonicMs: () => time.aheadMs };
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const [rows, cursors] = [createExportRows(database), createCursors(database)];
  const destinationIds = new Set<string>();
  const world: World = {
    database,
    rows,
    cursors,
    clock,
    time,
    answer: () => 200,
    judge: (status) => judgeStatus({ status, headers: {}, text: '' }),
    onState: () => undefined,
    catchUpMs: 1_000,
    calls: [],
    outcomes: { sent: 0, failed: 0, dropped: 0 },
    async add(id) {
      destinationIds.add(id);
      await cursors.open(id, await rows.end());
    },
    async remove(id) {
      destinationIds.delete(id);
      await cursors.remove(id);
    },
    async store(ids) {
      const payloads = ids.map((id) =>
        encodeGeneration(sampleGeneration({ id, createdAtMs: CREATED_MS + time.aheadMs }), 'default', '{}'),
      );
      const source = { frames: framesOf(payloads) };
      await database.applyBatch({ source, columns: GENERATION_COLUMNS, lateBeforeMs: 0 });
    },
    sender: (id, recordsAtOnce = 10) => new Sender(senderDeps(world), liveOf(world, id, recordsAtOnce)),
    async cleanUp(retentionMs, bytesMax) {
      const listed = [...destinationIds].map((id) => ({ id, type: 'webhook', workspaceId: WORKSPACE }));
      await cleanUpExports({
        rows,
        cursors,
        listDestinations: () => Promise.resolve(listed),
        nowMs: clock.nowMs,
        retentionMs,
        bytesMax,
        onDropped: () => undefined,
        onForeign: () => assert.fail('there is one cluster'),
      });
    },
  };
  return world;
}

function senderDeps(world: World): ConstructorParameters<typeof Sender>[0] {
  return {
    rows: world.rows,
    cursors: world.cursors,
    switches: {
      get: () => ({
        isIoLoggingEnabled: false,
        ioLoggingSamplingPpm: 0,
        ioLoggingApiKeyIds: null,
        ioLoggingApiKeyHashes: null,
        isBroadcastEnabled: true,
      }),
    },
    findContent: () => Promise.resolve(undefined),
    patterns: { search: () => Promise.resolve([]) },
    poster: {
      async post({ url, body }, { signal } = {}) {
        const records = JSON.parse(String(body)) as readonly string[];
        world.calls.push({ id: url, records });
        const status = await world.answer(url, records);
        if (signal?.aborted === true) return { status: undefined, reason: 'It was cut off.', isRefused: false };
        return { status, headers: {}, text: '' };
      },
    },
    clock: world.clock,
    random: () => 0,
    catchUpMs: world.catchUpMs,
    suspendAfterMs: 24 * HOUR_MS,
    onOutcome: (_type, outcome, count) => void (world.outcomes[outcome] += count),
    onState: (_live, _before, after) => world.onState(after.state),
    onWarning: () => undefined,
  };
}

function liveOf(world: World, id: string, recordsAtOnce: number): LiveDestination {
  const row: Partial<DestinationRow> = {
    id,
    type: 'webhook',
    workspaceId: WORKSPACE,
    apiKeyHashes: null,
    samplingPpm: 1_000_000,
    privacyMode: true,
  };
  const live: Partial<LiveDestination> = {
    row: row as DestinationRow,
    type: {} as LiveDestination['type'],
    isCompressed: false,
    redact: (text) => text,
    filterRules: null,
    open: {
      url: id,
      limits: { records: recordsAtOnce, gatherMs: 0 },
      calls: (batch: readonly ExportedGeneration[]) => {
        const ids = batch.map((generation) => generation.id);
        return [{ url: id, method: 'POST', headers: {}, body: JSON.stringify(ids), ids }];
      },
      judge: (call, { status }) => world.judge(status, call.ids.length),
      test: () => [],
    },
  };
  return live as LiveDestination;
}

const idsOf = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `gen-${index}`);

// @spec destination-9
test('ends its turn with the call that is under way when its destination is changed, and the next sender goes on', async (t) => {
  const world = await open(t);
  await world.add('d');
  await world.store(idsOf(5));
  const answers = Promise.withResolvers<number>();
  world.answer = () => answers.promise;
  const [before, after] = [world.sender('d', 2), world.sender('d', 2)];
  const running = before.run();
  while (world.calls.length === 0) await nextTurn();
  await after.run();
  assert.equal(world.calls.length, 1, 'it is not the turn of the other one');
  const closing = before.close(10_000);
  answers.resolve(200);
  await Promise.all([running, closing]);
  assert.equal(world.calls.length, 1, 'nothing more is sent as the destination was');
  await before.run();
  assert.equal(before.isDue, false);
  await after.run();
  assert.deepEqual(
    world.calls.map(({ records }) => records),
    [['gen-0', 'gen-1'], ['gen-2', 'gen-3'], ['gen-4']],
  );
  const row = (await world.cursors.find(['d'])).get('d');
  assert.deepEqual([row?.sent, row?.holder], [5, null]);
});

// @spec destination-9
test('makes no further call after a time in which its process stood still', async (t) => {
  const world = await open(t);
  await world.add('d');
  await world.store(idsOf(4));
  world.answer = () => {
    world.time.aheadMs += 30_000;
    return 200;
  };
  await world.sender('d', 2).run();
  assert.equal(world.calls.length, 1);
});

const HOUR_MS = 3_600_000;

// @spec destination-10, destination-18
test('sends everything after two hours without the destination, and after a day what is not too old', async (t) => {
  const world = await open(t);
  await world.add('d');
  await world.store(idsOf(60));
  const states: string[] = [];
  world.onState = (state) => states.push(state);
  world.catchUpMs = 24 * HOUR_MS;
  const sender = world.sender('d');
  const passHours = async (hours: number): Promise<void> => {
    for (const endMs = world.time.aheadMs + hours * HOUR_MS; world.time.aheadMs < endMs; world.time.aheadMs += 60_000)
      if (sender.isDue) await sender.run();
  };
  world.answer = () => 503;
  await passHours(2);
  const tries = world.calls.length;
  assert.ok(tries >= 10 && tries < 30, `${tries} calls in two hours`);
  assert.deepEqual(states, ['retrying', 'failing']);
  world.answer = () => 200;
  await passHours(1);
  const health = async () => (await world.cursors.find(['d'])).get('d');
  assert.equal((await health())?.sent, 60);
  world.answer = () => 503;
  for (let hour = 0; hour < 26; hour++) {
    await world.store([`late-${hour}`]);
    sender.wake();
    await passHours(1);
  }
  assert.deepEqual(
    states.slice(2).filter((state) => state === 'suspended'),
    ['suspended'],
    'it is reported once',
  );
  world.answer = () => 200;
  const next = world.sender('d');
  await next.run();
  const { sent, dropped } = (await health()) ?? assert.fail('it has no row');
  assert.equal(sent + dropped, 60 + 26);
  assert.ok(dropped >= 1 && dropped <= 3, `${dropped} are too old`);
  assert.deepEqual(world.outcomes, { sent, failed: 0, dropped });
});

// @spec destination-15
test('counts each record once, as sent, failed or dropped, whatever comes between', async (t) => {
  const world = await open(t);
  for (let game = 0; game < 40; game++) await playThrough(world, createRandom(seedOf(readSeed(), game)), game);
});

/** Answers of all kinds, restarts, changes and clean-ups in the middle of calls; in the end every destination works. */
async function playThrough(world: World, random: Random, game: number): Promise<void> {
  const name = `FUZZ_SEED=${readSeed()}, game ${game}`;
  const ids = [`one-${game}`, `two-${game}`];
  world.time.aheadMs = 0;
  for (const id of ids) await world.add(id);
  const records = idsOf(150).map((id) => `${game}-${id}`);
  const bad = new Set(records.filter(() => random.chance(0.05)));
  world.answer = async (_id, sent) => {
    for (let turns = random.int(0, 6); turns > 0; turns--) await nextTurn();
    if (random.chance(0.2)) return random.pick([500, 503, 401]);
    if (sent.length > 7) return 413;
    return sent.some((record) => bad.has(record)) ? 422 : 200;
  };
  world.judge = (status, count) => {
    if (status !== 200 || !random.chance(0.1)) return judgeStatus({ status, headers: {}, text: '' });
    return { kind: 'taken', refusedCount: random.int(1, count + 2) };
  };
  let stored = 0;
  let senders = new Map(ids.map((id) => [id, world.sender(id)]));
  for (let step = 0; step < 12; step++) {
    const works: Promise<unknown>[] = [...senders.values()].map((sender) => sender.run());
    if (random.chance(0.6)) {
      const count = random.int(1, 12);
      works.push(world.store(records.slice(stored, stored + count)));
      stored += count;
    }
    if (random.chance(0.5)) works.push(world.cleanUp(random.chance(0.3) ? -1 : 1_000_000, random.int(0, 100)));
    if (random.chance(0.4)) {
      const id = random.pick(ids);
      works.push(senders.get(id)?.close(random.chance(0.5) ? 0 : 1_000) ?? Promise.resolve());
      senders = new Map([...senders, [id, world.sender(id)]]);
    }
    await Promise.all(works);
    if (random.chance(0.1)) world.time.aheadMs += 400;
  }
  world.answer = (_id, sent) => (sent.some((record) => bad.has(record)) ? 422 : 200);
  for (const sender of senders.values()) {
    await sender.run();
    await sender.run();
  }
  for (const id of ids) {
    const row = (await world.cursors.find([id])).get(id);
    assert.ok(row !== undefined);
    assert.equal(row.sent + row.failed + row.dropped, stored, `${name}: each record of ${id} counts once`);
    const arrived = new Set(world.calls.filter((call) => call.id === id).flatMap((call) => call.records));
    assert.ok(arrived.size >= stored - row.dropped, `${name}: nothing is lost that does not count as dropped`);
    assert.ok(
      row.recentFailures.every(({ recordId }) => bad.has(recordId)),
      name,
    );
  }
  for (const id of ids) await world.remove(id);
}
