import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';
import { killAgainAndAgain } from '../support/cluster/kill-loop.ts';
import { readStored, reconcile } from '../support/cluster/reconcile.ts';
import { ENGINES } from '../support/store/engines.ts';

/** `npm run test:crash` runs more, a fifth of what it runs without such trouble, and on each engine. */
const KILLS = Math.ceil(Number(process.env['CRASH_KILLS'] ?? 1) / 5);
const CASES = process.env['CRASH_KILLS'] === undefined ? ENGINES.slice(0, 1) : ENGINES;

// @spec money-26
for (const { name, makePlace } of CASES)
  test(`loses no charge with a container whose folder is gone, where responses wait for the database, ${name}`, async (t) => {
    const place = await makePlace();
    t.after(() => place.remove());
    const { path, url } = place;
    const dataDir = url === undefined ? dirname(path) : makeFolder(t);
    const loop = await killAgainAndAgain(t, {
      kills: KILLS,
      seed: 1,
      dataDir,
      limitsNanoUsd: [],
      yaml: 'journal: { durability: database }\n',
      env: url === undefined ? {} : { DATABASE_URL: url },
      afterKill: () => rm(join(dataDir, 'journal'), { recursive: true }),
    });
    const database = await openDatabase({ path, url, clock: systemClock });
    t.after(() => database.close());
    assert.ok(loop.finished.length >= KILLS, 'the load was real');
    reconcile(loop, await readStored(database));
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
  });
