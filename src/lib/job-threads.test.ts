import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, test } from 'node:test';
import { createJobThreads, JobError, type JobThreads } from './job-threads.ts';

interface Job {
  readonly act: 'echo' | 'spin' | 'throw' | 'exit' | 'hoard' | 'hoard-heap';
  readonly value?: unknown;
}

const opened: JobThreads<Job, unknown>[] = [];
after(() => Promise.all(opened.map((threads) => threads.close())));

function open(threadsMax = 1, waitingMax = 8, shareMs?: number): JobThreads<Job, unknown> {
  const threads = createJobThreads<Job, unknown>({
    script: new URL('./test-job-thread.ts', import.meta.url),
    threadsMax,
    waitingMax,
    memoryBytesMax: 128 * 1_024 * 1_024,
    idleMs: 60_000,
    ...(shareMs !== undefined && { shareMs }),
  });
  opened.push(threads);
  return threads;
}

const nobody = (): AbortSignal => new AbortController().signal;

async function faultOf(running: Promise<unknown>): Promise<string> {
  const error = await running.then(
    () => assert.fail('the job gave a result'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof JobError);
  return error.fault;
}

test('jobs get their results, in whatever order threads come free', async () => {
  const threads = open(2, 32);
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, value) => threads.run({ act: 'echo', value }, 60_000, [], nobody())),
  );
  assert.deepEqual(
    results,
    Array.from({ length: 20 }, (_, value) => value),
  );
});

test('a job that breaks its limits, or its thread, is ended, and the next one is served', async () => {
  const threads = open();
  const faults: string[] = [];
  for (const act of ['spin', 'throw', 'exit', 'hoard', 'hoard-heap'] as const) {
    faults.push(await faultOf(threads.run({ act }, act === 'spin' ? 200 : 60_000, [], nobody())));
    assert.equal(await threads.run({ act: 'echo', value: act }, 60_000, [], nobody()), act);
  }
  assert.deepEqual(faults, ['timeout', 'crashed', 'crashed', 'memory', 'memory']);
});

test('who leaves while the job runs or waits is told at once, and one too many is refused', async () => {
  const threads = open(1, 1);
  const [first, second] = [new AbortController(), new AbortController()];
  const running = faultOf(threads.run({ act: 'spin' }, 60_000, [], first.signal));
  const waiting = faultOf(threads.run({ act: 'echo' }, 60_000, [], second.signal));
  assert.equal(await faultOf(threads.run({ act: 'echo' }, 60_000, [], nobody())), 'busy');
  second.abort();
  assert.equal(await waiting, 'aborted');
  first.abort();
  assert.equal(await running, 'aborted');
  assert.equal(await faultOf(threads.run({ act: 'echo' }, 60_000, [], first.signal)), 'aborted');
  assert.equal(await threads.run({ act: 'echo', value: 1 }, 60_000, [], nobody()), 1);
});

test('a job that has had its share gives way to those who wait, the longest first, and goes on where nobody does', async () => {
  const threads = open(2, 8, 50);
  const outcomes: string[] = [];
  const spin = async (name: string, timeoutMs: number): Promise<void> => {
    outcomes.push(`${name} ${await faultOf(threads.run({ act: 'spin' }, timeoutMs, [], nobody()))}`);
  };
  const echo = (value: string): Promise<unknown> => threads.run({ act: 'echo', value }, 60_000, [], nobody());
  const [first, second] = [spin('first', 60_000), spin('second', 60_000)];
  // One that waits while both still have their share, and one that comes long after.
  assert.equal(await echo('early'), 'early');
  await first;
  assert.deepEqual(outcomes, ['first displaced']);
  const third = spin('third', 300);
  await third;
  assert.deepEqual(outcomes, ['first displaced', 'third timeout'], 'nobody waited for either');
  const fourth = spin('fourth', 60_000);
  assert.equal(await echo('late'), 'late');
  await second;
  assert.deepEqual(outcomes.slice(2), ['second displaced']);
  await threads.close();
  await fourth;
});

test('a job that cannot be sent is refused, and takes nobody else its share', async () => {
  const threads = open(1, 8, 50);
  const unsendable = threads.run({ act: 'echo', value: () => 'a function' }, 60_000, [], nobody());
  assert.equal(await faultOf(unsendable), 'crashed');
  // Its own share would be over.
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  const spinning = faultOf(threads.run({ act: 'spin' }, 5_000, [], nobody()));
  const next = threads.run({ act: 'echo', value: 'next' }, 60_000, [], nobody());
  assert.deepEqual(await Promise.all([spinning, next]), ['displaced', 'next']);
});

test('without a share every job has all of its time, whoever waits', async () => {
  const threads = open();
  const spinning = faultOf(threads.run({ act: 'spin' }, 200, [], nobody()));
  assert.equal(await threads.run({ act: 'echo', value: 1 }, 60_000, [], nobody()), 1);
  assert.equal(await spinning, 'timeout');
});

test('a signal that outlives many jobs keeps nothing of them', async () => {
  const threads = open(1, 32);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 5 }, (_, value) => threads.run({ act: 'echo', value }, 60_000, [], signal)));
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('closing ends what runs and what waits', async () => {
  const threads = open();
  const faults = ['spin', 'echo'].map((act) => faultOf(threads.run({ act } as Job, 60_000, [], nobody())));
  await threads.close();
  assert.deepEqual(await Promise.all(faults), ['crashed', 'aborted']);
  assert.equal(await faultOf(threads.run({ act: 'echo' }, 60_000, [], nobody())), 'busy');
});

test('a thread that serves many jobs holds on to none of them', async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.name);
  process.on('warning', note);
  const threads = open();
  for (let job = 0; job < 30; job++) await threads.run({ act: 'echo', value: job }, 60_000, [], nobody());
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});
