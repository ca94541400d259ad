import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExportedGeneration } from './contract.ts';
import { createExportQueue, type ExportOutcome } from './export-queue.ts';
import type { PostOutcome } from './post.ts';

function generation(id: string): ExportedGeneration {
  return {
    id,
    startMs: 0,
    endMs: 1,
    modelRequested: 'm',
    model: 'm',
    format: 'chat',
    streamed: false,
    cancelled: false,
    status: 200,
    tokens: { prompt: 1, completion: 1, cacheRead: 0, cacheWrite: 0, estimated: false },
    settings: {},
    trace: {},
    costNanoUsd: 0,
    identity: { keyHash: 'k', workspaceId: 'w' },
    context: { region: 'local', attempts: 1, strategy: 'direct' },
  };
}

interface Made {
  readonly queue: ReturnType<typeof createExportQueue>;
  /** Ids of each call. */
  readonly calls: string[][];
  readonly counts: Record<ExportOutcome, number>;
}

function make(answer: (call: number) => PostOutcome | Promise<PostOutcome>, retryDelaysMs = [1, 1]): Made {
  const calls: string[][] = [];
  const counts = { sent: 0, dropped: 0, failed: 0 };
  const queue = createExportQueue({
    serialize: (batch) => ({ url: '', method: 'POST', headers: {}, body: JSON.stringify(batch.map(({ id }) => id)) }),
    post({ body }) {
      calls.push(JSON.parse(body) as string[]);
      return Promise.resolve(answer(calls.length));
    },
    onOutcome: (outcome, count) => (counts[outcome] += count),
    random: () => 0,
    retryDelaysMs,
    gatherMs: 5,
  });
  return { queue, calls, counts };
}

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; !holds(); attempt++) {
    assert.ok(attempt < 1_000, 'it came to that');
    await sleep(2);
  }
}

const OK: PostOutcome = { status: 200 };

suite('the queue of a destination', () => {
  test('hands on in batches, in order, all of them', async () => {
    const { queue, calls, counts } = make(() => OK);
    const ids = Array.from({ length: 250 }, (_, index) => `gen-${index}`);
    for (const id of ids) queue.offer(generation(id));
    await until(() => counts.sent === 250);
    assert.deepEqual(
      calls.map((call) => call.length),
      [100, 100, 50],
    );
    assert.deepEqual(calls.flat(), ids);
  });

  // @spec destination-9
  test('tries again what may pass, three times in all', async () => {
    const { queue, calls, counts } = make(() => ({ status: 503 }));
    queue.offer(generation('gen-1'));
    await until(() => counts.failed === 1);
    assert.equal(calls.length, 3);
  });

  test('retries without a response and after rate limits, and not after a rejection', async () => {
    const answers: readonly PostOutcome[] = [
      { status: undefined, reason: 'gone' },
      { status: 429 },
      OK,
      { status: 400 },
    ];
    const { queue, calls, counts } = make((call) => answers[call - 1] ?? OK);
    queue.offer(generation('gen-1'));
    await until(() => counts.sent === 1);
    queue.offer(generation('gen-2'));
    await until(() => counts.failed === 1);
    assert.equal(calls.length, 4);
  });

  test('drops what is too much, and counts it', async () => {
    const never = new Promise<PostOutcome>(() => undefined);
    const { queue, counts } = make(() => never);
    for (let index = 0; index < 1_500; index++) queue.offer(generation(`gen-${index}`));
    assert.equal(counts.dropped, 500);
    await queue.close(5);
    assert.ok(counts.failed >= 900, 'what still waits is told of at the end');
  });

  test('drops what callers send along beyond all measure, however few they are', () => {
    const { queue, counts } = make(() => new Promise<PostOutcome>(() => undefined));
    const trace = { note: 'x'.repeat(5 * 1_024 * 1_024) };
    for (let index = 0; index < 5; index++) queue.offer({ ...generation(`gen-${index}`), trace });
    assert.equal(counts.dropped, 2);
  });

  test('sends at the end what waits, without waiting for others', async () => {
    const { queue, counts } = make(() => OK, [60_000]);
    for (let index = 0; index < 3; index++) queue.offer(generation(`gen-${index}`));
    await queue.close(2_000);
    assert.equal(counts.sent, 3);
    queue.offer(generation('late'));
    assert.equal(counts.dropped, 1);
  });
});
