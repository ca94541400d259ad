import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createLedgerStore } from '../../src/store/usage/ledger.ts';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { API_KEY } from '../support/gateway.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { startTcpProxy } from '../support/services/tcp-proxy.ts';
import { chatAnswer, json, startUpstream } from '../support/upstream.ts';

/** 100 tokens at 10 USD a million. */
const ANSWER_NANO_USD = 1_000_000;
const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const LONG_MS = 30_000;

for (const { makePlace } of POSTGRES_ENGINES)
  suite('responses given while the database is dead', () => {
    async function prepare(t: TestContext) {
      const upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
      t.after(() => upstream.close());
      const place = await makePlace();
      t.after(() => place.remove());
      const direct = new URL(place.url ?? '');
      const proxy = await startTcpProxy(t, { host: direct.hostname, port: Number(direct.port) });
      const proxied = new URL(direct);
      proxied.host = `127.0.0.1:${proxy.port}`;
      const dataDir = makeFolder(t);
      const config = join(dataDir, 'gateway.yaml');
      await writeFile(
        config,
        `
providers:
  alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one:
    endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }]
`,
      );
      const start = (url: URL) =>
        startGateway(t, {
          dataDir,
          args: ['--config', config],
          env: { GATEWAY_API_KEY: API_KEY, DATABASE_URL: url.href },
        });
      return { place, proxy, start, direct, proxied };
    }

    /** The bytes of its journal that the database lacks. */
    async function kept(url: string): Promise<number> {
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return Number(/^gateway_journal_unapplied_bytes (\d+)$/m.exec(metrics)?.[1]);
    }

    async function ask(url: string): Promise<string> {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'hi' }] }),
      });
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      return answer.headers.get('x-generation-id') ?? '';
    }

    async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
      const endMs = performance.now() + LONG_MS;
      while (!(await isSo())) {
        assert.ok(performance.now() < endMs, what);
        await wait(50);
      }
    }

    const readiness = async (url: string): Promise<unknown> => (await fetch(`${url}/health/ready`)).json();

    async function checkCharges(url: string | undefined, ids: readonly string[]): Promise<void> {
      const database = await openDatabase({ path: ':memory:', url, clock });
      try {
        const { rows } = await createLedgerStore({ database }).list({ accountId: 'default', offset: 0, limit: 100 });
        assert.deepEqual(
          new Map(rows.map(({ generationId, amountNanoUsd }) => [generationId, amountNanoUsd])),
          new Map(ids.map((id) => [id, -ANSWER_NANO_USD])),
        );
        assert.equal(rows.length, ids.length, 'each once');
        assert.deepEqual((await createLedgerStore({ database }).verify('default')).differences, []);
      } finally {
        await database.close();
      }
    }

    // @spec money-26
    test('are charged once by the next process after a kill', async (t) => {
      const { place, proxy, start, direct, proxied } = await prepare(t);
      const gateway = await start(proxied);
      const ids = [await ask(gateway.url)];
      await proxy.cut();
      ids.push(...(await Promise.all([1, 2, 3].map(() => ask(gateway.url)))));
      const before = await kept(gateway.url);
      assert.ok(before > 0, 'they are kept');
      ids.push(await ask(gateway.url));
      assert.ok((await kept(gateway.url)) > before, 'later charges are kept as well');
      gateway.child.kill('SIGKILL');
      await gateway.exited;
      const next = await start(direct);
      assert.deepEqual(await readiness(next.url), { status: 'ok' });
      await checkCharges(place.url, ids);
    });

    test('are charged once after the database was only silent, and back before the next process', async (t) => {
      const { place, proxy, start, direct, proxied } = await prepare(t);
      const gateway = await start(proxied);
      const ids = [await ask(gateway.url)];
      proxy.stall();
      ids.push(...(await Promise.all([1, 2, 3].map(() => ask(gateway.url)))));
      const before = await kept(gateway.url);
      assert.ok(before > 0, 'they are kept while the database has them');
      ids.push(await ask(gateway.url));
      assert.ok((await kept(gateway.url)) > before, 'later charges are kept as well');
      gateway.child.kill('SIGKILL');
      await gateway.exited;
      // What the dead process had sent arrives before the next one sends it again, or after.
      proxy.resume();
      const next = await start(direct);
      assert.deepEqual(await readiness(next.url), { status: 'ok' });
      await checkCharges(place.url, ids);
    });

    // @spec money-26
    test('are charged when the database is back, without traffic', async (t) => {
      const { place, proxy, start, proxied } = await prepare(t);
      const gateway = await start(proxied);
      const ids = [await ask(gateway.url)];
      await proxy.cut();
      ids.push(...(await Promise.all([1, 2].map(() => ask(gateway.url)))));
      assert.ok((await kept(gateway.url)) > 0, 'they are kept');
      assert.deepEqual(await readiness(gateway.url), { status: 'ok', degraded: ['the database does not answer'] });
      await proxy.restore();
      await until(async () => (await kept(gateway.url)) === 0, 'all is stored');
      assert.deepEqual(await readiness(gateway.url), { status: 'ok' });
      await checkCharges(place.url, ids);
    });
  });
