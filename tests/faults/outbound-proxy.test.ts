import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { startTunnelProxy, type TunnelProxy } from '../support/http/tunnel-proxy.ts';
import { readChatStream } from '../support/http/read-stream.ts';
import { chatAnswer, chatStream, json, startUpstream, stream, type ScriptedUpstream } from '../support/upstream.ts';

const yaml = `
providers:
  far: { adapter: openai-compatible, base_url: http://api.far.example/v1, api_key: k }
  near: { adapter: openai-compatible, base_url: http://near.example/v1, api_key: k }
models:
  acme/far: { context_length: 8000, endpoints: [{ provider: far, model: m }] }
  acme/near: { context_length: 8000, endpoints: [{ provider: near, model: m }] }
`;

// @spec operation-15
suite('a gateway behind a proxy', () => {
  let upstream: ScriptedUpstream;
  let proxy: TunnelProxy;
  let gateway: RunningGateway;
  let isOpen = true;

  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('From far away.')));
    proxy = await startTunnelProxy(
      () => Number(new URL(upstream.baseUrl).port),
      () => (isOpen ? undefined : 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n'),
    );
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: 'near.example' };
    gateway = await startGateway({ yaml, env });
  });
  after(async () => {
    await gateway.close();
    await proxy.close();
    await upstream.close();
  });

  const post = (model: string, more: object = {}): Promise<Response> =>
    gateway.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...more });

  test('reaches a provider whose name this machine cannot look up', async () => {
    const response = await post('acme/far');
    assert.equal(response.status, 200);
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    assert.equal(choices[0]?.message.content, 'From far away.');
    assert.equal(proxy.requested[0]?.url, 'api.far.example:80');
    assert.equal(upstream.arrived.at(-1)?.headers['host'], 'api.far.example');
  });

  test('streams through it', async () => {
    upstream.script = stream(chatStream('Piece by piece.'));
    const response = await post('acme/far', { stream: true });
    assert.equal(readChatStream(await response.text()).text, 'Piece by piece.');
  });

  test('calls directly what NO_PROXY names', async () => {
    const tunnels = proxy.requested.length;
    assert.equal((await post('acme/near')).status, 502);
    assert.equal(proxy.requested.length, tunnels);
  });

  test('reports a proxy that refuses it as a provider that cannot be reached', async () => {
    isOpen = false;
    const refused = await startGateway({ yaml, env: { HTTP_PROXY: proxy.url } });
    const response = await refused.post('/chat/completions', {
      model: 'acme/far',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    assert.equal(response.status, 502);
    assert.doesNotMatch(await response.text(), /127\.0\.0\.1/);
    await refused.close();
  });
});
