import { strictEqual } from 'node:assert/strict';
import { test } from 'node:test';

import { measurePath } from './path.ts';
import type { PathCost } from './path-cost.ts';

type Counts = Readonly<Record<'functions' | 'calls' | 'promises', number>>;

/**
 * What a plain request may run through: what `npm run bench -- --only path` counts, and one in a hundred more. A change that
 * takes a count down lowers its bound.
 */
const BOUNDS: Readonly<Record<PathCost['path'], Counts>> = {
  'chat, whole': { functions: 762, calls: 2_055, promises: 77 },
  'chat, stream': { functions: 814, calls: 2_940, promises: 76 },
  'messages, whole': { functions: 776, calls: 2_220, promises: 77 },
  'messages, stream': { functions: 842, calls: 3_200, promises: 76 },
};
const COUNTS = ['functions', 'calls', 'promises'] as const;

test('runs a plain request through no more functions, calls and promises than before', async () => {
  const costs = await measurePath('--counts');
  const above = costs.flatMap((cost) =>
    COUNTS.flatMap((count) => {
      const most = BOUNDS[cost.path]?.[count] ?? 0;
      return cost[count] <= most ? [] : [`${cost.path}: ${cost[count]} ${count} instead of at most ${most}`];
    }),
  );
  strictEqual(above.join('\n'), '');
});
