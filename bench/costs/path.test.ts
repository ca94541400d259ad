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
  'chat, whole': { functions: 719, calls: 1_220, promises: 20 },
  'chat, stream': { functions: 772, calls: 1_611, promises: 36 },
  'messages, whole': { functions: 710, calls: 1_270, promises: 20 },
  'messages, stream': { functions: 777, calls: 1_796, promises: 36 },
};
const COUNTS = ['functions', 'calls', 'promises'] as const;

/** On a busy machine what comes in one piece elsewhere comes in two, which takes more of each: the least of these counts. */
const TRIES_MAX = 4;

test('runs a plain request through no more functions, calls and promises than before', async () => {
  const least = new Map<string, number>();
  let above: readonly string[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    above = findAbove(await measurePath('--counts'), least);
    if (above.length === 0) break;
  }
  strictEqual(above.join('\n'), '');
});

/** @param least of each path and count, over all tries so far */
function findAbove(costs: readonly PathCost[], least: Map<string, number>): readonly string[] {
  return costs.flatMap((cost) =>
    COUNTS.flatMap((count) => {
      const name = `${cost.path}: ${count}`;
      const counted = Math.min(cost[count], least.get(name) ?? Infinity);
      least.set(name, counted);
      const most = BOUNDS[cost.path]?.[count] ?? 0;
      return counted <= most ? [] : [`${name}: ${counted} instead of at most ${most}`];
    }),
  );
}
