import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { makeFolder, ROOT } from '../support/cli/spawn-cli.ts';
import { killAgainAndAgain } from '../support/cluster/kill-loop.ts';
import { readStored, reconcile } from '../support/cluster/reconcile.ts';
import { redis, useRedis } from '../support/services/redis.ts';
import { ENGINES } from '../support/store/engines.ts';

/** `npm run test:crash` runs more, a fifth of what it runs without such trouble, and on each engine. */
const KILLS = Math.ceil(Number(process.env['CRASH_KILLS'] ?? 1) / 5);
const CASES = process.env['CRASH_KILLS'] === undefined ? ENGINES.slice(0, 1) : ENGINES;
const CLOCK = pathToFileURL(join(ROOT, 'tests/support/cli/jumping-clock.ts')).href;

for (const { name, makePlace, isPostgres } of CASES)
  test(`charges each response once, and breaks no limit, while the clock jumps by up to an hour and the process is killed, ${name}`, async (t) => {
    const place = await makePlace();
    t.after(() => place.remove());
    const { path, url } = place;
    const dataDir = url === undefined ? dirname(path) : makeFolder(t);
    const shared = isPostgres && redis !== undefined ? useRedis(t) : undefined;
    const limitNanoUsd = KILLS * 2_000_000;
    const loop = await killAgainAndAgain(t, {
      kills: KILLS,
      seed: 1,
      dataDir,
      limitsNanoUsd: [limitNanoUsd],
      env: {
        NODE_OPTIONS: `--import=${CLOCK}`,
        ...(url !== undefined && { DATABASE_URL: url }),
        ...(shared !== undefined && { REDIS_URL: shared.url, REDIS_PREFIX: shared.prefix.slice(1, -2) }),
      },
    });
    // What is left is stored by a process whose clock jumps as well.
    await (await loop.restart()).stop();
    const database = await openDatabase({ path, url, clock: systemClock });
    t.after(() => database.close());
    assert.ok(loop.finished.length >= KILLS, 'the load was real');
    const stored = await readStored(database);
    reconcile(loop, stored);
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
    const [limited] = loop.limited;
    assert.ok(limited !== undefined && limited.refused > 0, 'the limit was reached');
    assert.ok((stored.spentNanoUsd.get(`key:${limited.hash}`) ?? 0) <= limitNanoUsd, 'the limit is not overspent');
  });
