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
  'chat, whole': { functions: 784, calls: 1_935, promises: 54 },
  'chat, stream': { functions: 829, calls: 2_809, promises: 53 },
  'messages, whole': { functions: 793, calls: 2_093, promises: 54 },
  'messages, stream': { functions: 860, calls: 3_072, promises: 53 },
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
