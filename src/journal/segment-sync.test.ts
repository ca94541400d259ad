import assert from 'node:assert/strict';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock as clock } from '../lib/clock.ts';
import { systemDisk } from './disk.ts';
import { SegmentSync } from './segment-sync.ts';

test('syncs a segment that fills up during its sync once more, and closes it after that', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sync-'));
  t.after(() => rm(folder, { recursive: true }));
  const handle = await open(join(folder, 'segment'), 'w');
  const segment = { path: '', stream: 's', base: 0, start: 0, handle };
  const firstMayEnd = Promise.withResolvers<void>();
  let syncs = 0;
  const sync = new SegmentSync({
    disk: {
      async sync(fd) {
        if (++syncs === 1) await firstMayEnd.promise;
        await systemDisk.sync(fd);
      },
    },
    clock,
    isAwaited: true,
    onFailed: (error) => assert.ifError(error),
  });
  sync.wrote(segment);
  sync.closeSegment(segment);
  const synced = sync.synced();
  firstMayEnd.resolve();
  await synced;
  await sync.end();
  assert.deepEqual([syncs, handle.fd], [2, -1]);
});
