import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, test } from 'node:test';
import { createJobThreads, JobError, type JobThreads, type JobThreadsOptions } from './job-threads.ts';

interface Job {
  readonly act: 'echo' | 'spin' | 'throw' | 'exit' | 'hoard' | 'hoard-heap';
  readonly value?: unknown;
}

const opened: JobThreads<Job, unknown>[] = [];
after(() => Promise.all(opened.map((threads) => threads.close())));

function open(
  threadsMax = 1,
  waitingMax = 8,
  shareMs?: number,
  more: Partial<JobThreadsOptions<Job>> = {},
): JobThreads<Job, unknown> {
  const threads = createJobThreads<Job, unknown>({
    script: new URL('../../../tests/support/job-thread.ts', import.meta.url),
    threadsMax,
    waitingMax,
    memoryBytesMax: 128 * 1_024 * 1_024,
    idleMs: 60_000,
    ...(shareMs !== undefined && { shareMs }),
    ...more,
  });
  opened.push(threads);
  return threads;
}

const neverAborted = (): AbortSignal => new AbortController().signal;

async function faultOf(running: Promise<unknown>): Promise<string> {
  const error = await running.then(
    () => assert.fail('the job gave a result'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof JobError);
  return error.fault;
}

test('returns the result of each job, in whatever order threads become free', async () => {
  const threads = open(2, 32);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, value) => threads.run({ act: 'echo', value }, 60_000, neverAborted())),
  );
  assert.deepEqual(
    results,
    Array.from({ length: 20 }, (_, value) => value),
  );
});

test('ends a job that exceeds its limits or breaks its thread, and serves the next one', async () => {
  const threads = open();
  const faults: string[] = [];
  for (const act of ['spin', 'throw', 'exit', 'hoard', 'hoard-heap'] as const) {
    faults.push(await faultOf(threads.run({ act }, act === 'spin' ? 200 : 60_000, neverAborted())));
    assert.equal(await threads.run({ act: 'echo', value: act }, 60_000, neverAborted()), act);
  }
  assert.deepEqual(faults, ['timeout', 'crashed', 'crashed', 'memory', 'memory']);
});

test('counts the time of a job from when its thread is ready, which has a limit of its own', async () => {
  const slow = open(1, 8, undefined, { threadData: 600 });
  assert.equal(await slow.run({ act: 'echo', value: 'done' }, 300, neverAborted()), 'done');
  assert.equal(await faultOf(slow.run({ act: 'spin' }, 300, neverAborted())), 'timeout');
  const stuck = open(1, 8, undefined, { threadData: 100_000, startMsMax: 300 });
  assert.equal(await faultOf(stuck.run({ act: 'echo', value: 'done' }, 100_000, neverAborted())), 'timeout');
});

test('rejects an aborted job at once, running or waiting, and refuses a job beyond the queue', async () => {
  const threads = open(1, 1);
  const [first, second] = [new AbortController(), new AbortController()];
  const running = faultOf(threads.run({ act: 'spin' }, 60_000, first.signal));
  const waiting = faultOf(threads.run({ act: 'echo' }, 60_000, second.signal));
  assert.equal(await faultOf(threads.run({ act: 'echo' }, 60_000, neverAborted())), 'busy');
  second.abort();
  assert.equal(await waiting, 'aborted');
  first.abort();
  assert.equal(await running, 'aborted');
  assert.equal(await faultOf(threads.run({ act: 'echo' }, 60_000, first.signal)), 'aborted');
  assert.equal(await threads.run({ act: 'echo', value: 1 }, 60_000, neverAborted()), 1);
});

test('displaces jobs that have used their share for waiting ones, the longest first, and only then', async () => {
  const threads = open(2, 8, 50);
  const outcomes: string[] = [];
  const spin = async (name: string, timeoutMs: number): Promise<void> => {
    outcomes.push(`${name} ${await faultOf(threads.run({ act: 'spin' }, timeoutMs, neverAborted()))}`);
  };
  const echo = (value: string): Promise<unknown> => threads.run({ act: 'echo', value }, 60_000, neverAborted());
  const [first, second] = [spin('first', 60_000), spin('second', 60_000)];
  // One that waits while both still have their share, and one that comes long after.
  assert.equal(await echo('early'), 'early');
  await first;
  assert.deepEqual(outcomes, ['first displaced']);
  const third = spin('third', 300);
  await third;
  assert.deepEqual(outcomes, ['first displaced', 'third timeout'], 'no job waited for either');
  const fourth = spin('fourth', 60_000);
  assert.equal(await echo('late'), 'late');
  await second;
  assert.deepEqual(outcomes.slice(2), ['second displaced']);
  await threads.close();
  await fourth;
});

test('rejects a job that cannot be sent, at no cost to other jobs', async () => {
  const threads = open(1, 8, 50);
  const unsendable = threads.run({ act: 'echo', value: () => 'a function' }, 60_000, neverAborted());
  assert.equal(await faultOf(unsendable), 'crashed');
  // Its own share would be over.
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  const spinning = faultOf(threads.run({ act: 'spin' }, 5_000, neverAborted()));
  const next = threads.run({ act: 'echo', value: 'next' }, 60_000, neverAborted());
  assert.deepEqual(await Promise.all([spinning, next]), ['displaced', 'next']);
});

test('lets every job use its whole time limit where no share is set', async () => {
  const threads = open();
  const spinning = faultOf(threads.run({ act: 'spin' }, 200, neverAborted()));
  assert.equal(await threads.run({ act: 'echo', value: 1 }, 60_000, neverAborted()), 1);
  assert.equal(await spinning, 'timeout');
});

test('leaves no listener on a signal that outlives many jobs', async () => {
  const threads = open(1, 32);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 5 }, (_, value) => threads.run({ act: 'echo', value }, 60_000, signal)));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('ends running and waiting jobs on close', async () => {
  const threads = open();
  const faults = ['spin', 'echo'].map((act) => faultOf(threads.run({ act } as Job, 60_000, neverAborted())));
  await threads.close();
  assert.deepEqual(await Promise.all(faults), ['crashed', 'aborted']);
  assert.equal(await faultOf(threads.run({ act: 'echo' }, 60_000, neverAborted())), 'busy');
});

test('frees the jobs that a thread has served', async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', note);
  const threads = open();
  for (let job = 0; job < 30; job++) await threads.run({ act: 'echo', value: job }, 60_000, neverAborted());
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

test('ends a job that holds much memory once the process holds too much', async () => {
  const threads = open(1, 8, undefined, { processBytesMax: 1, memoryBytesMax: 8_000_000_000 });
  assert.equal(await faultOf(threads.run({ act: 'hoard' }, 60_000, neverAborted())), 'busy');
});

test('packs a job when a thread takes it, not while it waits', async () => {
  const packed: unknown[] = [];
  const pack = (job: Job) => {
    packed.push(job.act);
    return { job, transfer: [] };
  };
  const threads = open(1, 8, undefined, { pack });
  const spinning = faultOf(threads.run({ act: 'spin' }, 200, neverAborted()));
  const waiting = threads.run({ act: 'echo', value: 1 }, 60_000, neverAborted());
  assert.deepEqual(packed, ['spin']);
  assert.deepEqual([await spinning, await waiting, packed.length], ['timeout', 1, 2]);
});

test('never runs more threads than allowed, also while one ends', async () => {
  const threads = open(1, 8, undefined, { memoryBytesMax: 64_000_000 });
  const { rss } = process.memoryUsage();
  const faults = await Promise.all(
    Array.from({ length: 6 }, () => faultOf(threads.run({ act: 'hoard' }, 60_000, neverAborted()))),
  );
  assert.deepEqual(new Set(faults), new Set(['memory']));
  assert.ok(process.memoryUsage.rss() - rss < 400_000_000, 'six times that memory was not held at once');
});
