import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallAnswer, ExportedGeneration, OutboundCall, Verdict } from '../contract.ts';
import type { LiveDestination } from '../destinations.ts';
import type { PostOutcome } from '../post.ts';
import { judgeStatus } from './judge.ts';
import { BatchSender } from './send-batch.ts';

const CONTENT = { input: { messages: [] }, output: { completion: 'x'.repeat(500), reasoning: null }, error: null };

function record(id: string, changes: Partial<ExportedGeneration> = {}): ExportedGeneration {
  return {
    id,
    requestId: id,
    startMs: 0,
    endMs: 1,
    modelRequested: 'acme/one',
    model: 'acme/one',
    apiType: 'chat',
    streamed: false,
    cancelled: false,
    status: 200,
    settings: {},
    trace: {},
    isCached: false,
    ...changes,
  };
}

const records = (count: number): readonly ExportedGeneration[] =>
  Array.from({ length: count }, (_, index) => record(`gen-${index}`));

interface Options {
  readonly post: (records: readonly ExportedGeneration[]) => number | PostOutcome;
  readonly bytes?: number;
  readonly judge?: (call: OutboundCall, answer: CallAnswer) => Verdict;
}

/** A sender to an address that answers by the records of a call. */
function make({ post, bytes = 1_000_000, judge = (_call, answer) => judgeStatus(answer) }: Options) {
  const seen: ExportedGeneration[][] = [];
  const outcomes = { taken: 0, refused: [] as string[], unknown: 0, warnings: [] as string[] };
  const open = {
    url: 'https://a.example',
    calls: (batch: readonly ExportedGeneration[]) => [
      {
        url: 'https://a.example',
        method: 'POST' as const,
        headers: {},
        body: JSON.stringify(batch),
        ids: batch.map(({ id }) => id),
      },
    ],
    judge,
    test: () => [],
  };
  const sender = new BatchSender({
    live: { open, isCompressed: false } as unknown as LiveDestination,
    limits: { records: 100, bytes, gatherMs: 0, callMs: 1, callsAtOnce: 1 },
    poster: {
      post({ body }) {
        const batch = JSON.parse(String(body)) as ExportedGeneration[];
        seen.push(batch);
        const answer = post(batch);
        return Promise.resolve(typeof answer === 'number' ? { status: answer, headers: {}, text: '' } : answer);
      },
    },
    nowMs: () => 0,
    signal: new AbortController().signal,
    pause: () => Promise.resolve(),
    onTaken: (count) => void (outcomes.taken += count),
    onRefused: (id) => void outcomes.refused.push(id),
    onRefusedUnknown: (count) => void (outcomes.unknown += count),
    onWarning: (message) => void outcomes.warnings.push(message),
    redact: (text) => text.replaceAll('secret', '***').slice(0, 20),
  });
  return { sender, seen, outcomes };
}

test('finds the one record that is refused, and sends all others once', async () => {
  const isBad = ({ id }: ExportedGeneration): boolean => id === 'gen-37';
  const { sender, seen, outcomes } = make({ post: (batch) => (batch.some(isBad) ? 400 : 200) });
  assert.equal(await sender.send(records(100)), undefined);
  assert.deepEqual([outcomes.taken, outcomes.refused], [99, ['gen-37']]);
  const sent = seen.filter((batch) => !batch.some(isBad)).flat();
  assert.equal(new Set(sent.map(({ id }) => id)).size, sent.length, 'none is sent twice');
});

test('halves what is too large for an address until it is taken', async () => {
  const { sender, seen, outcomes } = make({ post: (batch) => (batch.length > 30 ? 413 : 200) });
  assert.equal(await sender.send(records(100)), undefined);
  assert.deepEqual([outcomes.taken, outcomes.refused], [100, []]);
  assert.deepEqual(
    seen.filter(({ length }) => length <= 30).map(({ length }) => length),
    [25, 25, 25, 25],
  );
});

test('makes no call that is larger than may be, and cuts a record that is too large alone', async () => {
  const { sender, seen, outcomes } = make({ post: () => 200, bytes: 600 });
  assert.equal(await sender.send([record('small'), record('large', { content: CONTENT })]), undefined);
  assert.equal(outcomes.taken, 2);
  const large = seen.flat().find(({ id }) => id === 'large');
  assert.deepEqual([large?.content, large?.contentState], [undefined, 'refused']);
});

test('tries a refused record without its content and without what its caller sent along', async () => {
  const trace = { trace_id: 'abc', tenant: 'blue' };
  const { sender, outcomes } = make({
    post: ([one]) => (one?.content === undefined && one?.trace['tenant'] === undefined ? 200 : 422),
  });
  assert.equal(await sender.send([record('gen-1', { content: CONTENT, trace })]), undefined);
  assert.deepEqual([outcomes.taken, outcomes.refused], [1, []]);
});

test('stops after twenty refusals in a row: it is no record that is wrong', async () => {
  const { sender, outcomes } = make({ post: () => 400 });
  const stop = await sender.send(records(100));
  assert.deepEqual([stop?.isFault, stop?.status], [true, 400]);
  assert.equal(outcomes.refused.length, 20);
  assert.equal((await sender.send(records(100)))?.isFault, true);
  assert.equal(outcomes.refused.length, 20, 'nothing more is given up');
});

test('leaves out on a retry what was taken before', async () => {
  let isAway = true;
  const { sender, seen, outcomes } = make({
    post: (batch) => (batch.length > 2 ? 413 : batch.some(({ id }) => id === 'gen-3') && isAway ? 503 : 200),
  });
  const stop = await sender.send(records(4));
  assert.deepEqual([stop?.isFault, stop?.status, outcomes.taken], [false, 503, 2]);
  isAway = false;
  seen.length = 0;
  assert.equal(await sender.send(records(4)), undefined);
  assert.deepEqual(
    seen.map((batch) => batch.map(({ id }) => id)),
    [['gen-2', 'gen-3']],
  );
  assert.equal(outcomes.taken, 4);
});

test('is in fault where the address may not be called, and tries again where it does not answer', async () => {
  const outcome = (isRefused: boolean) => ({
    status: undefined,
    reason: 'The address is not on the public Internet.',
    isRefused,
  });
  assert.equal((await make({ post: () => outcome(true) }).sender.send(records(1)))?.isFault, true);
  assert.equal((await make({ post: () => outcome(false) }).sender.send(records(1)))?.isFault, false);
});

// @spec destination-22
test('counts what an address says that it has refused, and shows nothing secret of what it says', async () => {
  const { sender, outcomes } = make({
    post: () => 200,
    judge: () => ({ kind: 'taken', refusedCount: 2, warning: 'the secret is old, change it' }),
  });
  assert.equal(await sender.send(records(10)), undefined);
  assert.deepEqual(outcomes, { taken: 8, refused: [], unknown: 2, warnings: ['the *** is old, chan'] });
});
