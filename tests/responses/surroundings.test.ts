import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_KEY, startGateway } from '../support/gateway.ts';
import { exchangeRaw, requestHead } from '../support/http/raw-http.ts';

// @spec responses-4
test('answers 426 for a WebSocket at once, without a key and on every version of the path (PASS 43)', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const path of ['/v1/responses', '/api/v1/responses', '/v1/responses?model=a']) {
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: eA==',
    ];
    const answer = await exchangeRaw({
      url: gateway.url,
      closes: true,
      send: (socket) => void socket.write(requestHead(`GET ${path}`, ...upgrade)),
    });
    assert.equal(answer.status, 426);
    assert.match(answer.head, /\r\nconnection: close/i);
    const body = JSON.parse(answer.body) as { error: { code: number } };
    assert.equal(body.error.code, 426);
  }
  assert.equal((await fetch(`${gateway.baseUrl}/responses`)).status, 404, 'no upgrade');
});

// @spec responses-5
test('gives Codex a list of models that it can read, and others the same as ever (PASS 42)', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${gateway.baseUrl}${path}`, { headers: { authorization: `Bearer ${API_KEY}` } });
    assert.equal(response.status, 200);
    return (await response.json()) as Record<string, unknown>;
  };
  const { models, ...rest } = await get('/models?client_version=0.150.0');
  assert.deepEqual(models, []);
  assert.deepEqual(rest, await get('/models'));
});
