import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { ApplyLoop } from './apply-loop.ts';
import type { JournalBatch } from './batch.ts';
import { SEGMENT_BYTES, type Segment } from './segments.ts';

/** Three segments of 300 bytes, of which the store takes 100 at a time. */
async function openLoop(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'loop-'));
  t.after(() => rm(folder, { recursive: true }));
  const stored = new Map<number, number>();
  const segments: readonly Segment[] = [0, 1, 2].map((number) => ({
    path: join(folder, String(number)),
    stream: 's',
    base: number * SEGMENT_BYTES,
  }));
  for (const { path } of segments) await writeFile(path, '');
  let written = 250;
  const loop = new ApplyLoop({
    store: {
      columns: [],
      async apply({ source, checkpoint }: JournalBatch) {
        assert.ok('path' in source && checkpoint !== undefined);
        await wait(5);
        const end = Math.min(source.to, source.from + 100);
        assert.equal(stored.get(checkpoint.base) ?? 0, source.from, 'each part is stored once, in order');
        stored.set(checkpoint.base, end);
        return { end, records: 1, refused: [], damaged: [] };
      },
    },
    written: () => written,
    lateBeforeMs: () => 0,
    monotonicMs: () => performance.now(),
    reports: {
      onApplied: () => undefined,
      onLost: (payload) => assert.fail(payload),
      onDamaged: () => assert.fail('nothing is damaged'),
      onStoreStuck: (_isStuck, error) => assert.ifError(error),
    },
    onRemoved: () => undefined,
  });
  for (const segment of segments) loop.add(segment, 0);
  const writeAll = (): void => {
    for (const segment of segments.slice(0, 2)) loop.full(segment, 300);
    written = 2 * SEGMENT_BYTES + 300;
  };
  return { loop, stored, writeAll };
}

test('stores all of each segment when it closes while a reader waits for more', async (t) => {
  const { loop, stored, writeAll } = await openLoop(t);
  loop.wake();
  const first = loop.caughtUp();
  writeAll();
  const reader = loop.caughtUp();
  assert.equal(await loop.close(10_000), true);
  await Promise.all([first, reader]);
  assert.deepEqual([...stored.values()], [300, 300, 300]);
});

test('takes no segment for stored that cannot be read', async (t) => {
  const failures: unknown[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'loop-'));
  t.after(() => rm(folder, { recursive: true }));
  const loop = new ApplyLoop({
    store: { columns: [], apply: async () => ({ end: 0, records: 0, refused: [], damaged: [] }) },
    written: () => 100,
    lateBeforeMs: () => 0,
    monotonicMs: () => performance.now(),
    reports: {
      onApplied: () => undefined,
      onLost: () => undefined,
      onDamaged: () => undefined,
      onStoreStuck: (_isStuck, error) => failures.push(error),
    },
    onRemoved: () => undefined,
  });
  loop.add({ path: join(folder, 'a'), stream: 's', base: 0 }, 0);
  assert.equal(await loop.close(100), false);
  assert.equal(failures.length, 1);
});
