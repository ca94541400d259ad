import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { POSITION_LIFE_MS } from '../../src/state/position-bounds.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { canCluster, startCluster } from '../support/cluster/cluster.ts';
import {
  ask,
  configuration,
  countingUpstream,
  NANO_USD_PER_TOKEN,
  type Finished,
  type LimitedKey,
} from '../support/cluster/kill-loop.ts';
import { readOnceStored, reconcile } from '../support/cluster/reconcile.ts';
import { API_KEY } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const CALLERS = 12;
const TOKENS_MAX = 97;
/** Longer than the position of a process holds. STOPPED_MS makes it longer: a virtual machine that is moved stops for minutes. */
const STOPPED_MS = Number(process.env['STOPPED_MS'] ?? POSITION_LIFE_MS + 5_000);
/** Room for some hundred of the longest responses. */
const LIMIT_NANO_USD = 100 * TOKENS_MAX * NANO_USD_PER_TOKEN;
const LONG_MS = 60_000;
const REFUSED_PAUSE_MS = 20;

suite('a process that is stopped under load, and goes on', { skip: !canCluster }, () => {
  // @spec operation-8
  test('keeps the others from serving limited callers for no longer than its position holds, and loses nothing', async (t) => {
    const upstreamIds = new Set<string>();
    const upstream = await startUpstream(countingUpstream(upstreamIds));
    t.after(() => upstream.close());
    const cluster = await startCluster(configuration(upstream.baseUrl));
    t.after(() => cluster.close());
    const createKey = async (): Promise<LimitedKey> => {
      const { key, data } = await cluster.manage('POST', '/keys', { name: 'limited', limit: LIMIT_NANO_USD / 1e9 });
      const { hash } = data as { readonly hash: string };
      return { key: String(key), hash, limitNanoUsd: LIMIT_NANO_USD, refused: 0 };
    };
    const limited = await createKey();
    const fresh = await createKey();
    const [stopped, ...others] = cluster.gateways();
    assert.ok(stopped !== undefined && others.length === 2);

    const over = new AbortController();
    const finished: Finished[] = [];
    const refusedWithoutLimit: number[] = [];
    const callers = Array.from({ length: CALLERS }, async (_, at) => {
      const gateway = cluster.gateways()[at % 3] ?? stopped;
      const key = at % 2 === 0 ? API_KEY : limited.key;
      while (!over.signal.aborted) {
        const outcome = await ask(gateway.url, { key, stream: at % 4 < 2, maxTokens: TOKENS_MAX });
        if (outcome !== undefined && 'id' in outcome) finished.push(outcome);
        else if (outcome !== undefined) {
          if (key === API_KEY) refusedWithoutLimit.push(outcome.status);
          await wait(REFUSED_PAUSE_MS);
        }
        upstream.arrived.length = 0;
      }
    });
    while (finished.length < 3 * CALLERS) await wait(10);

    process.kill(stopped.pid, 'SIGSTOP');
    const stoppedAtMs = performance.now();
    // Its sums are read from the database for the first time: they need the positions of all.
    const served = await Promise.all(
      others.map(async ({ url }) => {
        for (;;) {
          const outcome = await ask(url, { key: fresh.key, stream: false, maxTokens: TOKENS_MAX });
          if (outcome !== undefined && 'id' in outcome) {
            finished.push(outcome);
            return performance.now() - stoppedAtMs;
          }
          assert.deepEqual(outcome, { status: 503 }, 'a sum that may be wrong is not gone by');
          assert.ok(performance.now() - stoppedAtMs < LONG_MS, 'limited callers are served again');
          await wait(REFUSED_PAUSE_MS);
        }
      }),
    );
    const before = finished.length;
    await wait(Math.max(0, STOPPED_MS - (performance.now() - stoppedAtMs)));
    assert.ok(finished.length > before, 'the others went on');
    process.kill(stopped.pid, 'SIGCONT');
    const resumedAt = finished.length;
    while (finished.length < resumedAt + 3 * CALLERS) await wait(10);
    assert.equal((await ask(stopped.url, { key: API_KEY, stream: false, maxTokens: 1 })) === undefined, false);
    over.abort();
    await Promise.all(callers);
    await cluster.stop();

    assert.deepEqual(refusedWithoutLimit, [], 'a caller without a limit is always served');
    const database = await openDatabase({ path: '', url: cluster.databaseUrl, clock: systemClock });
    t.after(() => database.close());
    const stored = await readOnceStored(database, finished);
    reconcile({ finished, upstreamIds }, stored);
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
    for (const { hash, limitNanoUsd } of [limited, fresh])
      assert.ok((stored.spentNanoUsd.get(`key:${hash}`) ?? 0) <= limitNanoUsd, 'no limit is overspent');
    t.diagnostic(
      `${finished.length} answers finished; limited callers were served after ${served.map(Math.round).join(' and ')} ms`,
    );
  });
});
