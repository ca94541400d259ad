import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { ENGINES } from '../support/store/engines.ts';
import { redis, useRedis, type TestRedis } from '../support/services/redis.ts';
import {
  ask,
  RESERVATION_MS,
  killAgainAndAgain,
  NANO_USD_PER_TOKEN,
  type KillLoop,
  type LimitedKey,
} from '../support/cluster/kill-loop.ts';
import { readStored, reconcile, type Stored } from '../support/cluster/reconcile.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';
import { applyLeftJournals } from '../support/store/journal.ts';

/** `npm run test:crash` runs more, and with workers. */
const KILLS = Number(process.env['CRASH_KILLS'] ?? 2);
const WORKERS = process.env['CRASH_KILLS'] === undefined ? [1] : [1, 2];
const SEED = Number(process.env['CRASH_SEED'] ?? 1);

/** One key has a limit that is never reached, another one that is reached before the end. */
const LIMITS_NANO_USD = { ample: KILLS * 1_000_000_000, tight: KILLS * 2_000_000 } as const;

/** Ten seconds in all. */
const UNKNOWN_TRIES_MAX = 20;
const UNKNOWN_PAUSE_MS = 500;

const CASES = ENGINES.flatMap((engine) => WORKERS.map((workers) => ({ ...engine, workers })));

for (const { name, makePlace, isPostgres, workers } of CASES)
  test(`loses no finished charge, makes none twice and breaks no limit in ${KILLS} times kill -9 under load, ${name}, ${workers} workers, CRASH_SEED=${SEED}`, async (t) => {
    const place = await makePlace();
    t.after(() => place.remove());
    const { path, url } = place;
    const dataDir = url === undefined ? dirname(path) : makeFolder(t);
    const shared = isPostgres && redis !== undefined ? useRedis(t) : undefined;
    const loop = await killAgainAndAgain(t, {
      kills: KILLS,
      seed: SEED,
      dataDir,
      limitsNanoUsd: Object.values(LIMITS_NANO_USD),
      env: {
        GATEWAY_WORKERS: String(workers),
        ...(url !== undefined && { DATABASE_URL: url }),
        ...(shared !== undefined && { REDIS_URL: shared.url, REDIS_PREFIX: shared.prefix.slice(1, -2) }),
      },
    });
    const database = await openDatabase({ path, url, clock: systemClock });
    t.after(() => database.close());
    await applyLeftJournals(database, dataDir);
    // A gateway that applies what others left withdraws their positions; without that they are waited for while they hold.
    if (shared !== undefined) await redis?.del(`${shared.prefix}journals`);
    const stored = await readStored(database);
    assert.ok(loop.finished.length >= KILLS, 'the load was real');
    reconcile(loop, stored);
    checkLimits(loop.limited, stored);
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
    await checkReservations(loop, stored, shared);
    const refused = loop.limited.reduce((sum, key) => sum + key.refused, 0);
    t.diagnostic(
      `${loop.finished.length} answers finished, the upstream began ${loop.upstreamIds.size}, ${refused} refused by a limit`,
    );
  });

function spentBy({ hash }: LimitedKey, { spentNanoUsd }: Stored): number {
  return spentNanoUsd.get(`key:${hash}`) ?? 0;
}

function checkLimits(limited: readonly LimitedKey[], stored: Stored): void {
  const [ample, tight] = limited;
  assert.ok(ample !== undefined && tight !== undefined);
  assert.ok(spentBy(ample, stored) > 0, 'holds were made and settled');
  assert.equal(ample.refused, 0, 'what dead processes held was less than the limit');
  assert.ok(spentBy(tight, stored) <= tight.limitNanoUsd, 'no limit is overspent, whichever process died');
  assert.ok(tight.refused > 0, 'the limit was reached');
}

/** What dead processes held in Redis counts until its end, for others may go by it, and no longer; in memory it died with them. */
async function checkReservations(loop: KillLoop, stored: Stored, shared?: TestRedis): Promise<void> {
  const [ample] = loop.limited;
  assert.ok(ample !== undefined);
  const gateway = await loop.restart();
  const everything = Math.floor((ample.limitNanoUsd - spentBy(ample, stored)) / NANO_USD_PER_TOKEN);
  // Until the sums of a gateway that has just begun are known, a caller with a limit is refused by 503.
  const askForAll = async (): Promise<Awaited<ReturnType<typeof ask>>> => {
    for (let tries = 1; ; tries++) {
      const answer = await ask(gateway.url, { key: ample.key, stream: false, maxTokens: everything });
      const isUnknown = answer !== undefined && 'status' in answer && answer.status === 503;
      if (!isUnknown || tries === UNKNOWN_TRIES_MAX) return answer;
      await sleep(UNKNOWN_PAUSE_MS);
    }
  };
  if (redis !== undefined && shared !== undefined) {
    const ends = `${shared.prefix}ends:key:${ample.hash}:ever:0`;
    assert.deepEqual(await askForAll(), { status: 402 }, 'what was held is still held');
    const [, latestUs] = await redis.zrange(ends, '-1', '-1', 'WITHSCORES');
    const [seconds] = await redis.time();
    assert.ok(Number(latestUs) / 1_000 <= (Number(seconds) + 1) * 1_000 + RESERVATION_MS, 'and not for ever');
    // As if that time was over: every hold ends at 0.
    await redis.zunionstore(ends, 1, ends, 'WEIGHTS', '0');
  }
  const answer = await askForAll();
  assert.ok(answer !== undefined && 'id' in answer, `everything that is left is free again: ${JSON.stringify(answer)}`);
  await gateway.stop();
}
