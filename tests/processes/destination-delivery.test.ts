import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { ENGINES } from '../support/store/engines.ts';

/** In a minute; each start takes most of it. */
const KILLS = 4;
const CALL_RECORDS_MAX = 100;
const REQUEST = { model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] };

/** Notes the generations of each call, and answers as a test says. */
async function startReceiver(t: TestContext) {
  const calls: { readonly ids: readonly string[]; readonly spanIds: readonly string[] }[] = [];
  const receiver = { calls, url: '', answer: (response: ServerResponse): void => void response.writeHead(200).end() };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
      const ids = [...text.matchAll(/"gen_ai.response.id","value":\{"stringValue":"([^"]+)"/g)].map(
        ([, id = '']) => id,
      );
      const spanIds = [...text.matchAll(/"spanId":"([0-9a-f]{16})"/g)].map(([, id = '']) => id);
      if (ids.length > 0) calls.push({ ids, spanIds });
      if (ids.length === 0) response.writeHead(200).end();
      else receiver.answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

async function call(url: string, method: string, path: string, body: object, key = MANAGEMENT_KEY): Promise<Response> {
  return fetch(`${url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function addDestination(url: string, receiver: { readonly url: string }): Promise<void> {
  const on = await call(url, 'PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
  assert.equal(on.status, 200);
  const config = { url: `${receiver.url}/hook` };
  const made = await call(url, 'POST', '/observability/destinations', { type: 'webhook', name: 'Hook', config });
  assert.equal(made.status, 201, await made.text());
}

async function generate(url: string): Promise<string> {
  const answer = await call(url, 'POST', '/chat/completions', REQUEST, API_KEY);
  assert.equal(answer.status, 200, await answer.text());
  return answer.headers.get('x-generation-id') ?? '';
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    assert.ok(tries < 1_200, what);
    await sleep(25);
  }
}

const missing = (ids: readonly string[], receiver: Awaited<ReturnType<typeof startReceiver>>): readonly string[] => {
  const arrived = new Set(receiver.calls.flatMap((one) => one.ids));
  return ids.filter((id) => !arrived.has(id));
};

for (const { name, isPostgres, makePlace } of ENGINES)
  suite(`delivery to destinations: ${name}`, () => {
    async function prepare(t: TestContext) {
      const place = await makePlace();
      t.after(() => place.remove());
      const dataDir = makeFolder(t);
      const config = join(dataDir, 'gateway.yaml');
      writeFileSync(config, 'observability: { private_destinations: true }\n');
      const start = (folder = dataDir, ...args: readonly string[]) =>
        startGateway(t, {
          args: ['--config', config, ...args],
          dataDir: folder,
          env: {
            GATEWAY_API_KEY: API_KEY,
            GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY,
            GATEWAY_SECRET: 'a secret of at least thirty-two characters',
            ...(isPostgres && { DATABASE_URL: place.url ?? '' }),
          },
        });
      return { start, receiver: await startReceiver(t) };
    }

    // @spec destination-16
    test('goes on after a kill in the middle of a call, with the same ids', async (t) => {
      const { start, receiver } = await prepare(t);
      const first = await start();
      await addDestination(first.url, receiver);
      receiver.answer = () => undefined;
      const ids = await Promise.all(Array.from({ length: 20 }, () => generate(first.url)));
      await until(() => receiver.calls.length > 0, 'a call arrives');
      first.child.kill('SIGKILL');
      await first.exited;
      const before = new Map(receiver.calls.flatMap((one) => one.ids.map((id, at) => [id, one.spanIds[at]])));
      receiver.calls.length = 0;
      receiver.answer = (response) => response.writeHead(200).end();
      await start();
      await until(() => missing(ids, receiver).length === 0, 'all records arrive');
      for (const { ids: again, spanIds } of receiver.calls)
        for (const [at, id] of again.entries()) if (before.has(id)) assert.equal(spanIds[at], before.get(id));
    });

    // @spec destination-16
    test('misses nothing over several kills under load, and repeats at most a call after each', async (t) => {
      const { start, receiver } = await prepare(t);
      const ids: string[] = [];
      for (let kill = 0; kill < KILLS; kill++) {
        const gateway = await start();
        if (kill === 0) await addDestination(gateway.url, receiver);
        const before = receiver.calls.length;
        const load = Array.from({ length: 30 }, async () => ids.push(await generate(gateway.url)));
        await Promise.all(load);
        await until(() => receiver.calls.length > before, 'a call arrives');
        await sleep(kill * 100);
        gateway.child.kill('SIGKILL');
        await gateway.exited;
      }
      await start();
      await until(() => missing(ids, receiver).length === 0, 'all records arrive');
      const arrived = receiver.calls.flatMap((one) => one.ids.map((id, at) => ({ id, spanId: one.spanIds[at] })));
      assert.ok(arrived.length - ids.length <= KILLS * CALL_RECORDS_MAX, `${arrived.length} arrived of ${ids.length}`);
      const pairs = new Set(arrived.map(({ id, spanId }) => `${id} ${spanId}`));
      assert.equal(pairs.size, ids.length, 'what comes again has the same ids');
    });

    test('goes on in another process while the one that sends stands still', { skip: !isPostgres }, async (t) => {
      const { start, receiver } = await prepare(t);
      const first = await start();
      await addDestination(first.url, receiver);
      receiver.answer = () => undefined;
      const ids = [await generate(first.url)];
      await until(() => receiver.calls.length > 0, 'a call arrives');
      first.child.kill('SIGSTOP');
      receiver.calls.length = 0;
      receiver.answer = (response) => response.writeHead(200).end();
      const second = await start(makeFolder(t));
      ids.push(await generate(second.url));
      await until(() => missing(ids, receiver).length === 0, 'the other process sends, what was under way too');
      first.child.kill('SIGCONT');
      ids.push(await generate(first.url), await generate(second.url));
      await until(() => missing(ids, receiver).length === 0, 'nothing is lost');
    });

    test('ends soon although a destination never answers', async (t) => {
      const { start, receiver } = await prepare(t);
      const gateway = await start();
      await addDestination(gateway.url, receiver);
      receiver.answer = () => undefined;
      const id = await generate(gateway.url);
      await until(() => receiver.calls.length > 0, 'a call arrives');
      gateway.child.kill('SIGTERM');
      assert.equal((await gateway.exited).code, 0);
      receiver.calls.length = 0;
      receiver.answer = (response) => response.writeHead(200).end();
      await start();
      await until(() => missing([id], receiver).length === 0, 'the record arrives');
    });

    // @spec destination-9
    test('sends each record once, whichever of several processes served it', async (t) => {
      const { start, receiver } = await prepare(t);
      const first = await start(undefined, '--workers', '2');
      await addDestination(first.url, receiver);
      const others = isPostgres ? [await start(makeFolder(t))] : [];
      const urls = [first, ...others].map(({ url }) => url);
      const ids: string[] = [];
      const round = async (): Promise<void> => {
        for (const url of urls) ids.push(await generate(url), await generate(url));
      };
      for (let rounds = 0; rounds < 10; rounds++) await round();
      await until(() => missing(ids, receiver).length === 0, 'all records arrive');
      const arrived = receiver.calls.flatMap((one) => one.ids);
      assert.equal(new Set(arrived).size, arrived.length, 'none arrives twice');
    });
  });
