import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPostFilter } from './post-filter.ts';

// @spec web-16
test('parses a filter of posts, and an invalid one as all posts', () => {
  for (const [requested, filter] of [
    [undefined, undefined],
    [null, undefined],
    [{}, {}],
    [
      { allowed_x_handles: ['a'], excluded_x_handles: [], from_date: '2026-11-01', to_date: null },
      { allowedHandles: ['a'], fromDate: '2026-11-01' },
    ],
    [
      { excluded_x_handles: ['b'], enable_image_understanding: false, enable_video_understanding: true },
      { excludedHandles: ['b'], readsImages: false, readsVideos: true },
    ],
    ['nonsense', {}],
    [7, {}],
    [{ allowed_x_handles: ['a'], excluded_x_handles: ['b'] }, {}],
    [{ allowed_x_handles: Array.from({ length: 21 }, () => 'a') }, {}],
    [{ from_date: 'yesterday' }, {}],
    [{ from_date: '2026-13-01' }, {}],
    [{ enable_image_understanding: 'yes' }, {}],
  ] as const)
    assert.deepEqual(readPostFilter(requested), filter, JSON.stringify(requested));
});
