import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { startTcpProxy } from '../support/services/tcp-proxy.ts';

const MODES = ['is cut off', 'says nothing'] as const;

for (const { makePlace } of POSTGRES_ENGINES)
  suite('a database that fails under load', { concurrency: 2 }, () => {
    async function startOnProxy(t: TestContext) {
      const place = await makePlace();
      const { hostname, port } = new URL(place.url ?? '');
      const proxy = await startTcpProxy(t, { host: hostname, port: Number(port) });
      const url = new URL(place.url ?? '');
      url.hostname = '127.0.0.1';
      url.port = String(proxy.port);
      const gateway = await startGateway({ env: { DATABASE_URL: url.href } });
      t.after(async () => {
        await gateway.close();
        await place.remove();
      });
      return { proxy, gateway };
    }

    for (const mode of MODES)
      test(`interrupts no stream and no request of known keys, and gets all charges when it is back: ${mode}`, async (t) => {
        const { proxy, gateway } = await startOnProxy(t);
        const ask = async (content: string): Promise<{ readonly id: string; readonly text: string }> => {
          const answer = await gateway.post('/chat/completions', {
            model: 'sandbox/long',
            stream: true,
            messages: [{ role: 'user', content }],
          });
          assert.equal(answer.status, 200);
          return { id: answer.headers.get('x-generation-id') ?? '', text: await answer.text() };
        };
        const readiness = async () => (await fetch(`${gateway.url}/health/ready`)).json();
        assert.deepEqual(await readiness(), { status: 'ok' });
        await ask('tokens=1');
        const under = Array.from({ length: 8 }, () => ask('tokens=20 every=20'));
        await wait(100);
        if (mode === 'is cut off') await proxy.cut();
        else proxy.stall();
        const late = Array.from({ length: 8 }, () => ask('tokens=2 every=10'));
        assert.deepEqual(await readiness(), { status: 'ok', degraded: ['the database does not answer'] });
        if (mode === 'is cut off') {
          const listed = await fetch(`${gateway.baseUrl}/keys`, {
            headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
          });
          assert.deepEqual([listed.status, listed.headers.get('retry-after')], [503, '1']);
        }
        const finished = await Promise.all([...under, ...late]);
        const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
        assert.ok(Number(/^gateway_journal_unapplied_bytes (\d+)$/m.exec(metrics)?.[1]) > 16 * 500);
        for (const { text } of finished) assert.match(text, /"finish_reason":"stop"[\s\S]*data: \[DONE\]/);
        if (mode === 'is cut off') await proxy.restore();
        else proxy.resume();
        const missing = new Set(finished.map(({ id }) => id));
        for (let tries = 0; missing.size > 0 && tries < 200; tries++) {
          for (const id of missing)
            if ((await gateway.app.generations.find(id).catch(() => undefined)) !== undefined) missing.delete(id);
          await wait(50);
        }
        assert.deepEqual([...missing], []);
        assert.equal(new Set(finished.map(({ id }) => id)).size, 16);
        assert.deepEqual(await readiness(), { status: 'ok' });
      });
  });
