import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { systemClock } from '../lib/clock.ts';
import { openDatabase, type Database } from '../store/engine/database.ts';
import { createJobStore } from '../store/jobs/jobs.ts';
import { JobLost, type JobKind, type JobRun } from './contract.ts';
import type { JobTimes } from './engine-deps.ts';
import { createJobs, type Jobs } from './jobs.ts';
import { CHECKPOINT_CHARS_MAX } from './runner.ts';

let database: Database;
before(async () => {
  database = await openDatabase({ path: ':memory:', clock: systemClock });
});
after(() => database.close());

const DONE = { state: 'done' } as const;
const TIMES: JobTimes = { tickMs: 5, leaseMs: 60_000, renewMs: 5, closeMs: 50 };

async function open(kind: Partial<JobKind> & Pick<JobKind, 'run'>, times: Partial<JobTimes> = {}) {
  await sql`delete from jobs`.execute(database.kysely);
  const ended: string[] = [];
  const failed: unknown[] = [];
  const make = (run: JobKind['run'] = (each) => kind.run(each)): Jobs => {
    const jobs = createJobs({
      store: createJobStore(database),
      clock: systemClock,
      isAlone: true,
      runs: true,
      times: { ...TIMES, ...times },
      onEnded: (name, outcome) => ended.push(`${name} ${outcome}`),
      onFailed: (error) => failed.push(error),
      onHousekeepingFailed: (error) => failed.push(error),
    });
    jobs.register({ kind: 'test', retryDelaysMs: [0, 0], ...kind, run });
    return jobs;
  };
  return { make, jobs: make(), ended, failed };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1_000 && !(await isSo()); tries++) await pause(2);
  assert.ok(await isSo());
}

const stateIs = (jobs: Jobs, id: string, state: string) => async () => (await jobs.find(id))?.state === state;

// @spec job-4
test('runs a job that was added, stores its progress and ends it', async () => {
  const runs: unknown[] = [];
  const { jobs, ended } = await open({
    async run({ job, save }) {
      runs.push([job.subjectId, job.checkpoint]);
      await save({ at: 1 });
      return { ...DONE, checkpoint: { at: 2 } };
    },
  });
  jobs.start();
  assert.equal(await jobs.add({ kind: 'test', subjectId: 's', id: 'a', checkpoint: { at: 0 } }), 'added');
  assert.equal(await jobs.add({ kind: 'test', subjectId: 's', id: 'a' }), 'known');
  await until(stateIs(jobs, 'a', 'done'));
  await jobs.close();
  assert.deepEqual(runs, [['s', { at: 0 }]]);
  assert.deepEqual((await jobs.find('a'))?.checkpoint, { at: 2 });
  assert.deepEqual(ended, ['test done']);
});

// @spec job-5
test('tries a job that fails again after the delays of its kind, then gives it up', async () => {
  const given: string[] = [];
  let runs = 0;
  const { jobs, ended } = await open({
    run: () => Promise.reject(new Error(`failure ${++runs}`)),
    onGivenUp: (_job, error) => Promise.resolve(void given.push(error)),
  });
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await until(stateIs(jobs, 'a', 'failed'));
  await jobs.close();
  assert.deepEqual(ended, ['test again', 'test again', 'test failed']);
  assert.deepEqual([runs, given, (await jobs.find('a'))?.error], [3, ['failure 3'], 'failure 3']);
});

test('counts failures from the last progress', async () => {
  let runs = 0;
  const { jobs } = await open({
    retryDelaysMs: [0],
    async run({ save }) {
      if (++runs === 6) return DONE;
      await save({ runs });
      throw new Error('once more');
    },
  });
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await until(stateIs(jobs, 'a', 'done'));
  await jobs.close();
});

// @spec job-3
test('runs at most the places of its kind, and one of a subject at a time', async () => {
  const underway: string[] = [];
  let most = 0;
  const { jobs } = await open({
    async run({ job }) {
      assert.ok(!underway.includes(job.subjectId));
      underway.push(job.subjectId);
      most = Math.max(most, underway.length);
      // Until all places are taken; afterwards each goes at its own pace.
      await until(() => most === 4);
      underway.splice(underway.indexOf(job.subjectId), 1);
      return DONE;
    },
  });
  jobs.start();
  const ids = Array.from({ length: 12 }, (_, index) => `job-${index}`);
  for (const [index, id] of ids.entries()) await jobs.add({ kind: 'test', subjectId: `s${index % 6}`, id });
  for (const id of ids) await until(stateIs(jobs, id, 'done'));
  await jobs.close();
  assert.equal(most, 4);
});

// @spec job-6
test('ends what runs when the gateway stops, and goes on in the next process without a lost attempt', async () => {
  let seen: JobRun | undefined;
  const { jobs, make } = await open({
    async run(run) {
      seen = run;
      await run.save({ at: 5 });
      await pause(60_000, undefined, { signal: run.signal });
      return DONE;
    },
  });
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await until(async () => (await jobs.find('a'))?.checkpoint['at'] === 5);
  await jobs.close();
  assert.ok(seen?.signal.aborted);
  const left = await jobs.find('a');
  assert.deepEqual([left?.state, left?.attempt], ['queued', 0]);
  const next = make(({ job }) => Promise.resolve({ ...DONE, checkpoint: { from: job.checkpoint['at'] } }));
  next.start();
  await until(stateIs(next, 'a', 'done'));
  await next.close();
  assert.deepEqual((await next.find('a'))?.checkpoint, { from: 5 });
});

// @spec job-2
test('lets a run know that another process has its job', async () => {
  let lost: unknown;
  const { jobs, failed } = await open({
    async run({ signal, save }) {
      await pause(60_000, undefined, { signal }).catch(() => undefined);
      await save({ at: 'late' }).catch((error: unknown) => (lost = error));
      throw lost;
    },
  });
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await until(stateIs(jobs, 'a', 'running'));
  await sql`update jobs set lease_owner = 'another'`.execute(database.kysely);
  await until(() => lost !== undefined);
  await jobs.close();
  assert.ok(lost instanceof JobLost);
  const job = await jobs.find('a');
  assert.deepEqual([job?.state, job?.leaseOwner, job?.checkpoint, failed], ['running', 'another', {}, []]);
});

// @spec job-7
test('stops a job that is cancelled, wherever it was cancelled', async () => {
  const { jobs, make } = await open({
    async run({ signal }) {
      await pause(60_000, undefined, { signal });
      return DONE;
    },
  });
  jobs.start();
  for (const id of ['here', 'there']) await jobs.add({ kind: 'test', subjectId: id, id });
  for (const id of ['here', 'there']) await until(stateIs(jobs, id, 'running'));
  assert.equal(await jobs.cancel('test', 'here'), true);
  assert.equal(await make().cancel('test', 'there'), true);
  for (const id of ['here', 'there']) await until(stateIs(jobs, id, 'cancelled'));
  assert.equal(await jobs.cancel('test', 'here'), false);
  await jobs.close();
});

test('waits for what is outside until it is woken, and comes again when it says so', async () => {
  const seen: unknown[] = [];
  const { jobs } = await open({
    run({ job: { checkpoint } }) {
      seen.push(checkpoint['step']);
      if (checkpoint['step'] === 'asks') return Promise.resolve({ state: 'waiting', checkpoint: { step: 'waits' } });
      if (checkpoint['step'] === 'goes on')
        return Promise.resolve({ state: 'again', afterMs: 0, checkpoint: { step: 'last' } });
      return Promise.resolve(DONE);
    },
  });
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a', checkpoint: { step: 'asks' } });
  await until(stateIs(jobs, 'a', 'waiting'));
  assert.equal(await jobs.wake('a', { step: 'goes on' }), true);
  await until(stateIs(jobs, 'a', 'done'));
  await jobs.close();
  assert.deepEqual(seen, ['asks', 'goes on', 'last']);
});

test('gives up a job whose process ends each time, without another run', async () => {
  const given: string[] = [];
  const { jobs } = await open({
    run: () => Promise.reject(new Error('never called')),
    onGivenUp: (_job, error) => Promise.resolve(void given.push(error)),
  });
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await sql`update jobs set state = 'running', attempt = 3, lease_owner = 'killed'`.execute(database.kysely);
  await jobs.recover();
  jobs.start();
  await until(stateIs(jobs, 'a', 'failed'));
  await jobs.close();
  assert.deepEqual(given, ['Each process that ran it ended before it did.']);
});

test('stores no checkpoint that is too large', async () => {
  const { jobs } = await open({
    retryDelaysMs: [],
    async run({ save }) {
      await save({ text: 'x'.repeat(CHECKPOINT_CHARS_MAX) });
      return DONE;
    },
  });
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await until(stateIs(jobs, 'a', 'failed'));
  await jobs.close();
  assert.match((await jobs.find('a'))?.error ?? '', /checkpoint of the job has 65547 characters/);
});

test('does not give up a job that another process has taken meanwhile', async () => {
  const given: string[] = [];
  const { jobs, ended } = await open(
    {
      retryDelaysMs: [],
      async run({ job }) {
        await sql`update jobs set lease_owner = 'another', lease_until_ms = lease_until_ms + 60000
          where id = ${job.id}`.execute(database.kysely);
        throw new Error('it failed here');
      },
      onGivenUp: (_job, error) => Promise.resolve(void given.push(error)),
    },
    // Nothing tells this process before the run ends.
    { renewMs: 60_000 },
  );
  jobs.start();
  await jobs.add({ kind: 'test', subjectId: 's', id: 'a' });
  await until(async () => (await jobs.find('a'))?.leaseOwner === 'another');
  await jobs.close();
  assert.deepEqual([given, ended, (await jobs.find('a'))?.state], [[], [], 'running']);
});
