import { strictEqual } from 'node:assert/strict';
import { test } from 'node:test';

import { measurePath } from './path.ts';
import type { PathCost } from './path-cost.ts';

type Counts = Readonly<Record<'functions' | 'calls' | 'promises', number>>;

/**
 * What a plain request may run through. They only ever shrink: a change that takes one down lowers the bound to what it
 * measures. The counts differ by a few from run to run, by what a timer does meanwhile.
 */
const BOUNDS: Readonly<Record<PathCost['path'], Counts>> = {
  'chat, whole': { functions: 825, calls: 2_230, promises: 123 },
  'chat, stream': { functions: 870, calls: 3_150, promises: 124 },
  'messages, whole': { functions: 835, calls: 2_450, promises: 124 },
  'messages, stream': { functions: 890, calls: 3_360, promises: 126 },
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
