import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { lookup } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Pool, request } from 'undici';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../../../tests/support/http/loopback-certificate.ts';
import { startTunnelProxy, type TunnelProxy } from '../../../../tests/support/http/tunnel-proxy.ts';
import { addressErrorIn, createGuardedAgent } from '../guarded-agent.ts';
import { createHttpClient, TransportError, type Call, type HttpClient } from '../http-client.ts';
import { createProxyOf } from './proxies.ts';
import { ProxyError, proxyErrorIn } from './tunnel.ts';
import { createConnector } from '../skip-continue.ts';

// Behind it everything is this one server.
const plain = createServer((received, response) => response.end(`${received.headers.host} ${received.url}`));
const secure = createSecureServer({ cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY }, (received, response) =>
  response.end(`TLS to ${received.headers.host}`),
);
const CONNECT_MS = 300;

before(async () => {
  plain.listen(0, '127.0.0.1');
  secure.listen(0, '127.0.0.1');
  await Promise.all([once(plain, 'listening'), once(secure, 'listening')]);
});
after(() => {
  plain.close();
  secure.close();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

async function withProxy(
  run: (proxy: TunnelProxy) => Promise<void>,
  { isSecure = false, answer }: { isSecure?: boolean; answer?: Parameters<typeof startTunnelProxy>[1] } = {},
): Promise<void> {
  const proxy = await startTunnelProxy(() => portOf(isSecure ? secure : plain), answer);
  try {
    await run(proxy);
  } finally {
    await proxy.close();
  }
}

function call(client: HttpClient, origin: string): Call {
  return client.call({ origin, path: '/v1', method: 'GET', headers: {}, connectTimeoutMs: CONNECT_MS });
}

async function failureBehind(proxyUrl: string): Promise<TransportError> {
  const client = createHttpClient({ proxyOf: createProxyOf({ https: proxyUrl, http: proxyUrl, except: [] }) });
  try {
    return await call(client, 'https://api.example').answer.then(
      () => assert.fail('it was answered'),
      (error: unknown) => (error instanceof TransportError ? error : assert.fail(String(error))),
    );
  } finally {
    await client.close();
  }
}

suite('a call through a proxy', () => {
  test('names its host to the proxy, with the credentials of the proxy, and its path to the host alone', () =>
    withProxy(async (proxy) => {
      const url = proxy.url.replace('//', '//me:p%40ss@');
      const client = createHttpClient({ proxyOf: createProxyOf({ http: url, except: [] }) });
      const answer = await call(client, 'http://api.example:8080').answer;
      assert.equal(Buffer.from((await answer.read()) ?? []).toString(), 'api.example:8080 /v1');
      await client.close();
      const [tunnel] = proxy.requested;
      assert.equal(tunnel?.url, 'api.example:8080');
      assert.equal(tunnel.headers['proxy-authorization'], `Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    }));

  test('speaks TLS with the host, not with the proxy', () =>
    withProxy(
      async (proxy) => {
        const proxyOf = createProxyOf({ https: proxy.url, except: [] });
        const trust = { ca: LOOPBACK_CERTIFICATE, servername: 'localhost' };
        const connect = createConnector({ timeout: CONNECT_MS, allowH2: false, ...trust }, proxyOf);
        const pool = new Pool('https://api.example', { connect });
        const { body } = await pool.request({ path: '/', method: 'GET' });
        assert.equal(await body.text(), 'TLS to api.example');
        await pool.close();
        assert.equal(proxy.requested[0]?.url, 'api.example:443');
      },
      { isSecure: true },
    ));

  test('keeps its tunnel for the next one', () =>
    withProxy(async (proxy) => {
      const client = createHttpClient({ proxyOf: createProxyOf({ http: proxy.url, except: [] }) });
      for (let count = 0; count < 3; count++) {
        const answer = await call(client, 'http://api.example').answer;
        while ((await answer.read()) !== undefined);
        // The connection is free with the next turn of the event loop.
        await nextTurn();
      }
      await client.close();
      assert.equal(proxy.requested.length, 1);
    }));

  test('fails with the status of a proxy that refuses it', () =>
    withProxy(
      async (proxy) => {
        const error = await failureBehind(proxy.url.replace('//', '//me:secret@'));
        assert.equal(error.kind, 'connect');
        const refused = proxyErrorIn(error);
        assert.ok(refused instanceof ProxyError);
        assert.equal(refused.status, 407);
        assert.doesNotMatch(refused.message, /secret/);
      },
      { answer: () => 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n' },
    ));

  test('fails in its time when the proxy says nothing', () =>
    withProxy(
      async (proxy) => {
        const error = await failureBehind(proxy.url);
        assert.equal(error.kind, 'connect-timeout');
        assert.match(proxyErrorIn(error)?.message ?? '', /does not answer in time/);
      },
      { answer: () => '' },
    ));

  test('fails when the proxy speaks no HTTP', () =>
    withProxy(async (proxy) => assert.equal((await failureBehind(proxy.url)).kind, 'connect'), {
      answer: () => 'SSH-2.0-OpenSSH\r\n',
    }));

  test('fails when there is no proxy', async () => {
    const error = await failureBehind('http://127.0.0.1:9');
    assert.equal(error.kind, 'connect');
    assert.equal(proxyErrorIn(error)?.message, 'The proxy 127.0.0.1:9 cannot be reached (ECONNREFUSED)');
  });
});

suite('an address of a caller behind a proxy', () => {
  const lookUpTo = (address: string): typeof lookup =>
    ((_name: string, _options: unknown, found: (error: null, all: object[]) => void) =>
      found(null, [{ address, family: 4 }])) as unknown as typeof lookup;

  test('is connected to by the address that was judged', () =>
    withProxy(async (proxy) => {
      const agent = createGuardedAgent({
        protocols: ['http:'],
        lookup: lookUpTo('93.184.216.34'),
        proxyOf: createProxyOf({ http: proxy.url, except: [] }),
      });
      const { body } = await request(agent.admit('http://files.example/a'), { dispatcher: agent.dispatcher });
      assert.equal(await body.text(), 'files.example /a');
      await agent.close();
      assert.equal(proxy.requested[0]?.url, '93.184.216.34:80');
    }));

  test('is refused where it is not on the public Internet', () =>
    withProxy(async (proxy) => {
      const agent = createGuardedAgent({
        protocols: ['http:'],
        lookup: lookUpTo('10.0.0.1'),
        proxyOf: createProxyOf({ http: proxy.url, except: [] }),
      });
      await assert.rejects(
        request(agent.admit('http://files.example/a'), { dispatcher: agent.dispatcher }),
        (error) => addressErrorIn(error) !== undefined,
      );
      await agent.close();
      assert.equal(proxy.requested.length, 0);
    }));

  test('is called directly where it is one of the own network itself', () =>
    withProxy(async (proxy) => {
      const proxyOf = createProxyOf({ http: proxy.url, except: [] });
      const agent = createGuardedAgent({ protocols: ['http:'], isAllowed: () => true, proxyOf });
      // Nothing answers there (RFC 5737), and the proxy would.
      await assert.rejects(
        request(agent.admit('http://192.0.2.1/a'), { dispatcher: agent.dispatcher, signal: AbortSignal.timeout(100) }),
      );
      await agent.dispatcher.destroy();
      assert.equal(proxy.requested.length, 0);
    }));

  test('is called directly in the own network, where that is allowed', () =>
    withProxy(async (proxy) => {
      const agent = createGuardedAgent({
        protocols: ['http:'],
        isAllowed: () => true,
        lookup: lookUpTo('127.0.0.1'),
        proxyOf: createProxyOf({ http: proxy.url, except: [] }),
      });
      const address = agent.admit(`http://wiki.example:${portOf(plain)}/a`);
      const { body } = await request(address, { dispatcher: agent.dispatcher });
      assert.match(await body.text(), /^wiki\.example:\d+ \/a$/);
      await agent.close();
      assert.equal(proxy.requested.length, 0);
    }));
});
