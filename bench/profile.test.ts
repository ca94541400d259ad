import assert from 'node:assert/strict';
import { test } from 'node:test';

import { summariseProfile } from './profile.ts';

const frame = (functionName: string): object => ({ functionName, url: '', lineNumber: -1 });

test('self time inside the span is summed by function over its call sites, and idle time is no work', () => {
  const thread = summariseProfile(
    JSON.stringify({
      nodes: [
        { id: 1, callFrame: frame('(idle)') },
        { id: 2, callFrame: { functionName: 'encode', url: 'node:buffer', lineNumber: 9 } },
        { id: 3, callFrame: { functionName: 'encode', url: 'node:buffer', lineNumber: 9 } },
        { id: 4, callFrame: frame('writev') },
      ],
      startTime: 1_000_000,
      samples: [4, 1, 2, 4, 3, 1, 2],
      timeDeltas: [90_000, 15_000, 1_000, 2_500, 3_000, 500, 80_000],
    }),
    { fromUs: 1_100_000, toUs: 1_120_000 },
  );
  assert.equal(thread.totalMs, 22);
  assert.equal(thread.busyMs, 6.5);
  assert.deepEqual(thread.functions, [
    { name: 'encode', place: 'node:buffer:10', selfMs: 4 },
    { name: 'writev', place: '', selfMs: 2.5 },
  ]);
});
