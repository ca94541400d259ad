import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { readChatStream } from '../support/http/read-stream.ts';
import { startTcpProxy } from '../support/services/tcp-proxy.ts';
import { chatChunk, sse, startUpstream } from '../support/upstream.ts';

/** 4,000 bytes: a quarter of a slice, by an estimate. */
const PAGE = sse([chatChunk({ role: 'assistant', content: 'x'.repeat(4_000) })]);

for (const { makePlace } of POSTGRES_ENGINES)
  suite('a stream without max_tokens while the database is unreachable', () => {
    test('ends as at a maximum, since the rest of the budget is unknown', async (t) => {
      const away = Promise.withResolvers<void>();
      let isAborted = false;
      const upstream = await startUpstream(async (_arrived, response) => {
        response.on('close', () => (isAborted = !response.writableFinished));
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(PAGE);
        await away.promise;
        for (let page = 0; page < 1_000 && !response.destroyed; page++) {
          response.write(PAGE);
          await wait(10);
        }
        response.end();
      });
      t.after(() => upstream.close());
      const place = await makePlace();
      t.after(() => place.remove());
      const url = new URL(place.url ?? '');
      const proxy = await startTcpProxy(t, { host: url.hostname, port: Number(url.port) });
      url.host = `127.0.0.1:${proxy.port}`;
      const gateway = await startGateway({
        env: { DATABASE_URL: url.href },
        yaml: `
credits: { enforce: true }
providers: { alpha: { adapter: openai-compatible, base_url: ${upstream.baseUrl}, api_key: a } }
models: { acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] } }
`,
      });
      t.after(() => gateway.close());
      const headers = { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' };
      const grant = async (): Promise<void> => {
        const body = JSON.stringify({ amount: 1, note: 'for the test' });
        assert.equal((await fetch(`${gateway.baseUrl}/credits/grants`, { method: 'POST', headers, body })).status, 201);
      };
      await grant();
      const messages = [{ role: 'user', content: 'hi' }];
      const response = await gateway.post('/chat/completions', { model: 'acme/one', stream: true, messages });
      assert.equal(response.status, 200);
      // From here on the credit has to be read anew.
      await grant();
      await proxy.cut();
      away.resolve();
      const { finish, error } = readChatStream(await response.text());
      assert.deepEqual([finish, error, isAborted], ['length', undefined, true]);
      await proxy.restore();
      const id = response.headers.get('x-generation-id') ?? '';
      let codes: readonly string[] = [];
      for (let round = 0; round < 200 && codes.length === 0; round++) {
        await wait(50);
        const answer = await fetch(`${gateway.baseUrl}/generation?id=${id}`, { headers });
        if (!answer.ok) continue;
        const { data } = (await answer.json()) as { data: { warnings: { code: string }[] } };
        codes = data.warnings.map(({ code }) => code);
      }
      assert.deepEqual(codes, ['budget_unknown']);
    });
  });
