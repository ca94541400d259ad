import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { VaultReleaseRow } from '../store/vault/columns.ts';
import { createReleaseLog, type Release } from './release-log.ts';

const HOUR_MS = 3_600_000;
const release: Release = {
  scope: { kind: 'operator', id: 'operator' },
  name: 'alpha',
  host: 'api.alpha.example',
  caller: 'provider:alpha',
  keyHash: undefined,
  verdict: 'released',
};

function open() {
  const bench = {
    nowMs: 10 * HOUR_MS,
    added: [] as VaultReleaseRow[],
    removed: [] as number[],
    lost: 0,
    isAway: false,
  };
  const log = createReleaseLog({
    store: {
      async add(rows) {
        if (bench.isAway) throw new Error('away');
        bench.added.push(...rows);
      },
      removeBefore: async (atMs) => void bench.removed.push(atMs),
    },
    clock: { nowMs: () => bench.nowMs, monotonicMs: () => 0 },
    onLost: (count) => void (bench.lost += count),
  });
  return { bench, log };
}

suite('the record of releases', () => {
  // @spec vault-14
  test('counts equal releases of an hour in one row, and forgets what is older than 90 days', async () => {
    const { bench, log } = open();
    for (let times = 0; times < 3; times++) log.add(release);
    log.add({ ...release, verdict: 'refused' });
    bench.nowMs += HOUR_MS;
    log.add(release);
    await log.flush();
    assert.deepEqual(
      bench.added.map(({ hourMs, verdict, count }) => [hourMs / HOUR_MS, verdict, count]),
      [
        [10, 'released', 3],
        [10, 'refused', 1],
        [11, 'released', 1],
      ],
    );
    assert.deepEqual(bench.removed, [11 * HOUR_MS - 90 * 24 * HOUR_MS]);
  });

  test('stores what is counted before it takes more than its bound', async () => {
    const { bench, log } = open();
    for (let name = 0; name < 10_001; name++) log.add({ ...release, name: `n${name}` });
    await log.close();
    assert.equal(bench.added.length, 10_001);
  });

  test('reports how many releases could not be stored', async () => {
    const { bench, log } = open();
    bench.isAway = true;
    log.add(release);
    log.add(release);
    await log.flush();
    assert.equal(bench.lost, 2);
  });
});
