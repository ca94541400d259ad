import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startTunnelProxy, type TunnelProxy } from '../../../../tests/support/http/tunnel-proxy.ts';
import { json, startUpstream, type ScriptedUpstream } from '../../../../tests/support/upstream.ts';
import { createProxiedFetch } from './proxied-fetch.ts';
import { createProxyOf } from './proxies.ts';

suite('fetch through a proxy', () => {
  let upstream: ScriptedUpstream;
  let proxy: TunnelProxy;
  before(async () => {
    upstream = await startUpstream(json(200, { issuer: 'http://id.example' }, { 'x-kept': 'yes' }));
    proxy = await startTunnelProxy(() => Number(new URL(upstream.baseUrl).port));
  });
  after(async () => {
    await proxy.close();
    await upstream.close();
  });

  test('sends what the library sends, and gives it the response as it came', async () => {
    const proxyOf = createProxyOf({ http: proxy.url, except: [] });
    assert.ok(proxyOf !== undefined);
    const response = await createProxiedFetch(proxyOf)('http://id.example/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Basic abc' },
      body: '{"grant_type":"authorization_code"}',
      redirect: 'manual',
    });
    assert.ok(response instanceof Response, 'of the class that the library looks for');
    assert.deepEqual([response.status, response.headers.get('x-kept')], [200, 'yes']);
    assert.deepEqual(await response.json(), { issuer: 'http://id.example' });
    assert.equal(proxy.requested[0]?.url, 'id.example:80');
    const [arrived] = upstream.arrived;
    assert.equal(arrived?.path, '/token');
    assert.deepEqual(arrived.body, { grant_type: 'authorization_code' });
    assert.equal(arrived.headers['authorization'], 'Basic abc');
  });

  test('follows no redirect by itself', async () => {
    upstream.script = (_arrived, response) => void response.writeHead(302, { location: 'http://other.example' }).end();
    const proxyOf = createProxyOf({ http: proxy.url, except: [] });
    assert.ok(proxyOf !== undefined);
    const response = await createProxiedFetch(proxyOf)('http://id.example/', {
      method: 'POST',
      headers: {},
      body: '{}',
      redirect: 'manual',
    });
    assert.deepEqual([response.status, response.headers.get('location')], [302, 'http://other.example']);
  });
});
