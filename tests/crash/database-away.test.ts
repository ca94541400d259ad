import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../src/lib/clock.ts';
import { SPENT_LIFE_MS } from '../../src/state/reservation-bounds.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import {
  ask,
  configuration,
  countingUpstream,
  NANO_USD_PER_TOKEN,
  type Finished,
} from '../support/cluster/kill-loop.ts';
import { readStored, reconcile } from '../support/cluster/reconcile.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { startTcpProxy } from '../support/services/tcp-proxy.ts';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { startUpstream } from '../support/upstream.ts';

const AWAY_MS = Number(process.env['AWAY_MS'] ?? 20_000);
const CALLERS = 8;
const TOKENS_MAX = 97;
/** More than all callers together can spend in ten minutes. */
const LIMIT_NANO_USD = 10_000_000 * TOKENS_MAX * NANO_USD_PER_TOKEN;
const PAUSE_MS = 20;
const BACK_MS_MAX = 120_000;

for (const { makePlace } of POSTGRES_ENGINES)
  // @spec money-26, operation-8
  test(`charges each response once that ended while the database was away for ${AWAY_MS} ms under load`, async (t) => {
    const upstreamIds = new Set<string>();
    const upstream = await startUpstream(countingUpstream(upstreamIds));
    t.after(() => upstream.close());
    const place = await makePlace();
    t.after(() => place.remove());
    const direct = new URL(place.url ?? '');
    const proxy = await startTcpProxy(t, { host: direct.hostname, port: Number(direct.port) });
    const proxied = new URL(direct);
    proxied.host = `127.0.0.1:${proxy.port}`;
    const dataDir = makeFolder(t);
    await writeFile(join(dataDir, 'gateway.yaml'), configuration(upstream.baseUrl));
    const gateway = await startGateway(t, {
      dataDir,
      args: ['--config', join(dataDir, 'gateway.yaml')],
      env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY, DATABASE_URL: proxied.href },
    });
    const createKey = async (): Promise<string> => {
      const response = await fetch(`${gateway.url}/v1/keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'limited', limit: LIMIT_NANO_USD / 1e9 }),
      });
      return ((await response.json()) as { readonly key: string }).key;
    };
    const [limited, fresh] = [await createKey(), await createKey()];
    const readiness = async (): Promise<unknown> => (await fetch(`${gateway.url}/health/ready`)).json();
    const unapplied = async (): Promise<number> => {
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(/^gateway_journal_unapplied_bytes (\d+)$/m.exec(metrics)?.[1]);
    };

    const over = new AbortController();
    const finished: Finished[] = [];
    const refused: number[] = [];
    const refusedOfLimited: number[] = [];
    t.after(() => over.abort());
    const callers = Array.from({ length: CALLERS }, async (_, at) => {
      const key = at % 2 === 0 ? API_KEY : limited;
      while (!over.signal.aborted) {
        const outcome = await ask(gateway.url, { key, stream: at % 4 < 2, maxTokens: TOKENS_MAX });
        if (outcome !== undefined && 'id' in outcome) finished.push(outcome);
        else {
          (key === API_KEY ? refused : refusedOfLimited).push(outcome?.status ?? 0);
          await wait(PAUSE_MS);
        }
        upstream.arrived.length = 0;
      }
    });
    while (finished.length < 3 * CALLERS) await wait(PAUSE_MS);

    await proxy.cut();
    const before = finished.length;
    await wait(AWAY_MS / 2);
    // A sum is known for a minute.
    const isBlind = refusedOfLimited.length > 0;
    assert.deepEqual(
      await readiness(),
      isBlind
        ? { status: 'unavailable', reason: 'what was spent cannot be read' }
        : { status: 'ok', degraded: ['the database does not answer'] },
    );
    await wait(AWAY_MS / 2);
    assert.ok(finished.length > before, 'callers were served meanwhile');
    assert.deepEqual(refused, [], 'callers without a limit are all served');
    assert.deepEqual(
      new Set(refusedOfLimited),
      new Set(AWAY_MS > SPENT_LIFE_MS ? [503] : []),
      'those with one are served while their sum is known',
    );
    const behind = await unapplied();
    assert.ok(behind > 0, 'their records wait');
    const outcome = await ask(gateway.url, { key: fresh, stream: false, maxTokens: TOKENS_MAX });
    assert.deepEqual(outcome, { status: 503 }, 'a key that was never read is not served');

    await proxy.restore();
    over.abort();
    await Promise.all(callers);
    const backAtMs = performance.now();
    while ((await unapplied()) > 0) {
      assert.ok(performance.now() - backAtMs < BACK_MS_MAX, 'what waited is stored');
      await wait(PAUSE_MS);
    }
    const storedMs = Math.round(performance.now() - backAtMs);
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    const database = await openDatabase({ path: '', url: place.url, clock: systemClock });
    t.after(() => database.close());
    reconcile({ finished, upstreamIds }, await readStored(database));
    assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
    t.diagnostic(
      `${finished.length} answers finished, ${refusedOfLimited.length} were refused; ${behind} bytes waited and were stored within ${storedMs} ms`,
    );
  });
