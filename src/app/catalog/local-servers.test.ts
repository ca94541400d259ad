import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { after, suite, test } from 'node:test';
import { createHttpClient } from '../../lib/net/http-client.ts';
import { createLocalServers } from './local-servers.ts';
import type { Provider } from '../../providers/contract.ts';
import { createProviders } from '../../providers/index.ts';

const http = createHttpClient();
const servers: Server[] = [];
after(async () => {
  for (const server of servers) server.close().closeAllConnections();
  await http.close();
});

/** Where a server listens that answers so. */
async function serve(handler: RequestListener): Promise<{ readonly baseUrl: string; readonly server: Server }> {
  const server = createServer(handler).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { baseUrl: `http://127.0.0.1:${address.port}/v1`, server };
}

const models =
  (...rows: readonly object[]): RequestListener =>
  (request, response) => {
    assert.equal(request.url, '/v1/models');
    response.end(JSON.stringify({ object: 'list', data: rows }));
  };

function engine(adapter: string, baseUrl: string, slug = adapter): readonly [string, Provider] {
  const timeouts = { connectMs: 1, headersMs: 1, firstTokenMs: 1, idleMs: 1, wholeMs: 1 };
  const entry = { slug, adapter, baseUrl, headers: {}, timeouts: {} };
  const provider = createProviders({ config: [entry], env: {}, timeouts }).get(slug);
  assert.ok(provider);
  return [slug, provider];
}

function watcher(
  candidates: readonly (readonly [string, Provider])[],
  own: readonly (readonly [string, Provider])[] = [],
  // What is found does not depend on how busy the machine is.
  probeMs = 60_000,
) {
  const providers = new Map(own);
  const found: (readonly [string, readonly string[]])[] = [];
  const local = createLocalServers({
    providers,
    candidates: new Map(candidates),
    live: { discovered: (slug, names) => found.push([slug, names]) },
    http,
    probeMs,
  });
  return { local, providers, found };
}

suite('servers on this machine', () => {
  test('adds a running server as a provider with its models, and removes it when it stops', async () => {
    const { baseUrl, server } = await serve(models({ id: 'llama3.3:70b' }, { id: 'qwen3' }));
    const { local, providers, found } = watcher([engine('ollama', baseUrl)]);
    await local.look();
    assert.deepEqual(found, [['ollama', ['llama3.3:70b', 'qwen3']]]);
    assert.equal(providers.has('ollama'), true);
    await local.look();
    assert.equal(found.length, 1, 'what did not change is not told again');
    server.close().closeAllConnections();
    await local.look();
    assert.deepEqual(found.at(-1), ['ollama', []]);
    assert.equal(providers.has('ollama'), false);
  });

  test('ignores another server at a common address', async () => {
    const answers: readonly RequestListener[] = [
      models({ id: 'x', owned_by: 'somebody' }),
      models(),
      (_request, response) => response.end('<html>'),
      (_request, response) => response.writeHead(404).end('{"data":[{"id":"x","owned_by":"vllm"}]}'),
    ];
    for (const answer of answers) {
      const { baseUrl } = await serve(answer);
      const { local, providers, found } = watcher([engine('vllm', baseUrl)]);
      await local.look();
      assert.deepEqual(found, []);
      assert.equal(providers.size, 0);
    }
    const { baseUrl } = await serve(models({ id: 'acme/support', owned_by: 'vllm' }));
    const { local, found } = watcher([engine('vllm', baseUrl)]);
    await local.look();
    assert.deepEqual(found, [['vllm', ['acme/support']]]);
  });

  test('does not wait for a server without a response', async () => {
    const { baseUrl } = await serve(() => undefined);
    const { local, found } = watcher([engine('lm-studio', baseUrl)], [], 500);
    const startMs = performance.now();
    await local.look();
    assert.ok(performance.now() - startMs < 10_000);
    assert.deepEqual(found, []);
  });

  test('calls a provider of the operator at its own address, and keeps it when it does not respond', async () => {
    const { baseUrl, server } = await serve(models({ id: 'mine', owned_by: 'me' }));
    const usual = await serve(() => assert.fail('the usual address is not asked'));
    const { local, providers, found } = watcher(
      [engine('vllm', usual.baseUrl)],
      [engine('vllm', baseUrl), engine('vllm', baseUrl, 'rack')],
    );
    await local.look();
    assert.deepEqual(Object.fromEntries(found), { vllm: ['mine'], rack: ['mine'] });
    server.close().closeAllConnections();
    await local.look();
    assert.deepEqual(Object.fromEntries(found.slice(2)), { vllm: [], rack: [] });
    assert.deepEqual([...providers.keys()].toSorted(), ['rack', 'vllm']);
  });

  test('cuts names that no slug can hold, and a list without end', async () => {
    const rows = Array.from({ length: 600 }, (_, at) => ({ id: `m${at}` }));
    const { baseUrl } = await serve(models({ id: 'two words' }, { id: 7 }, {}, ...rows));
    const { local, found } = watcher([engine('ollama', baseUrl)]);
    await local.look();
    assert.equal(found[0]?.[1].length, 500);
    assert.equal(found[0]?.[1][0], 'm0');
  });
});
