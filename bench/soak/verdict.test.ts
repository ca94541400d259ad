import assert from 'node:assert/strict';
import { test } from 'node:test';

import { judgeGrowth, type SoakSample } from './verdict.ts';

const MINUTE_MS = 60_000;

function sampleRun(change: (minute: number) => Partial<SoakSample>): readonly SoakSample[] {
  return Array.from({ length: 31 }, (_, minute) => ({
    atMs: minute * MINUTE_MS,
    rssMiB: 250,
    heapMiB: 60,
    externalMiB: 8,
    handles: 40,
    openStreams: 5,
    sent: minute * 3_000,
    rows: minute * 2_800,
    ...change(minute),
  }));
}

const verdictOf = (samples: readonly SoakSample[], what: string) =>
  judgeGrowth(samples).find((growth) => growth.what.startsWith(what));

test('memory that settles in the first third is flat, however it rose before', () => {
  const samples = sampleRun((minute) => ({ heapMiB: 60 + Math.min(minute, 9) * 10 + (minute % 2), rssMiB: 400 }));
  assert.ok(judgeGrowth(samples).every(({ isFlat }) => isFlat));
});

test('a leak of 300 bytes a request is found', () => {
  const leaked = sampleRun((minute) => ({ heapMiB: 60 + (minute * 3_000 * 300) / 2 ** 20 + (minute % 3) }));
  const heap = verdictOf(leaked, 'heap');
  assert.equal(heap?.isFlat, false);
  assert.ok(heap.rise > 15 && heap.rise < 19, `${heap.rise}`);
});

test('a socket that is left open each minute is found', () => {
  assert.equal(
    verdictOf(
      sampleRun((minute) => ({ handles: 40 + minute })),
      'fewest handles',
    )?.isFlat,
    false,
  );
});

test('a peak that is over is no growth', () => {
  const samples = sampleRun((minute) => (minute === 20 ? { rssMiB: 400 } : {}));
  assert.equal(verdictOf(samples, 'resident')?.isFlat, true);
});

test('a moment with many requests under way is no growth', () => {
  const samples = sampleRun((minute) => (minute > 26 && minute % 2 === 0 ? { handles: 300, externalMiB: 40 } : {}));
  assert.ok(judgeGrowth(samples).every(({ isFlat }) => isFlat));
});

test('buffers that stay are found', () => {
  const leaked = sampleRun((minute) => ({ externalMiB: 8 + minute * 0.5 + (minute % 2) * 20 }));
  assert.equal(verdictOf(leaked, 'least external')?.isFlat, false);
});
