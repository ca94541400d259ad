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
  'chat, whole': { functions: 722, calls: 1_265, promises: 50 },
  'chat, stream': { functions: 767, calls: 1_828, promises: 49 },
  'messages, whole': { functions: 713, calls: 1_312, promises: 50 },
  'messages, stream': { functions: 776, calls: 1_822, promises: 49 },
};
const COUNTS = ['functions', 'calls', 'promises'] as const;

/** On a busy machine what comes in one piece elsewhere comes in two, which takes more promises: the least of these counts. */
const TRIES_MAX = 3;

test('runs a plain request through no more functions, calls and promises than before', async () => {
  let above: readonly string[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    above = findAbove(await measurePath('--counts'));
    if (above.length === 0) break;
  }
  strictEqual(above.join('\n'), '');
});

function findAbove(costs: readonly PathCost[]): readonly string[] {
  return costs.flatMap((cost) =>
    COUNTS.flatMap((count) => {
      const most = BOUNDS[cost.path]?.[count] ?? 0;
      return cost[count] <= most ? [] : [`${cost.path}: ${cost[count]} ${count} instead of at most ${most}`];
    }),
  );
}
