import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { systemClock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { canCluster, startCluster, type Cluster } from '../support/cluster/cluster.ts';
import { API_KEY } from '../support/gateway.ts';
import { ask, configuration, countingUpstream, type Finished } from '../support/cluster/kill-loop.ts';
import { readOnceStored, reconcile } from '../support/cluster/reconcile.ts';
import { applyLeftJournals } from '../support/store/journal.ts';
import { startUpstream } from '../support/upstream.ts';

const KILLS = 3;
const WORKERS = 16;
const REQUEST = { key: API_KEY, maxTokens: 97 };

suite('kill -9 of one of three processes under load', { skip: !canCluster }, () => {
  test('fails only the requests of that process, loses no finished charge, makes none twice, and the others continue', async (t) => {
    const upstreamIds = new Set<string>();
    const upstream = await startUpstream(countingUpstream(upstreamIds));
    t.after(() => upstream.close());
    const cluster = await startCluster(configuration(upstream.baseUrl));
    t.after(() => cluster.close());
    const over = new AbortController();
    const finished: Finished[] = [];
    const statuses: number[] = [];
    let broken = 0;
    const workers = Array.from({ length: WORKERS }, async (_, at) => {
      while (!over.signal.aborted) {
        const outcome = await ask(cluster.url, { ...REQUEST, stream: at % 2 === 0 });
        if (outcome === undefined) broken++;
        else if ('id' in outcome) finished.push(outcome);
        else statuses.push(outcome.status);
        upstream.arrived.length = 0;
      }
    });
    for (let kill = 0; kill < KILLS; kill++) {
      await grows(finished, 2 * WORKERS);
      const [pid] = living(cluster);
      assert.ok(pid !== undefined);
      process.kill(pid, 'SIGKILL');
      await cluster.until(new RegExp(`\\[${pid}\\] ended \\(SIGKILL\\)`));
      // Its successor is not there yet.
      await grows(finished, WORKERS);
      while (living(cluster).length < 3) await grows(finished, 1);
    }
    await grows(finished, 2 * WORKERS);
    over.abort();
    await Promise.all(workers);
    assert.deepEqual(statuses, [], 'no request was refused');
    assert.ok(broken <= KILLS * WORKERS, `${broken} requests broke`);
    const database = await openDatabase({ path: '', url: cluster.databaseUrl, clock: systemClock });
    t.after(() => database.close());
    await applyLeftJournals(database, cluster.dataDir);
    reconcile({ finished, upstreamIds }, await readOnceStored(database, finished));
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
    t.diagnostic(`${finished.length} answers finished, ${broken} broke, the upstream began ${upstreamIds.size}`);
  });
});

function living(cluster: Cluster): readonly number[] {
  return cluster.gateways().flatMap(({ pid }) => {
    try {
      process.kill(pid, 0);
      return [pid];
    } catch {
      return [];
    }
  });
}

/** Waits until so many more answers are there: time that says nothing of how fast the machine is. */
async function grows(finished: readonly Finished[], by: number): Promise<void> {
  const enough = finished.length + by;
  while (finished.length < enough) await new Promise((resolve) => setTimeout(resolve, 10));
}
