import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  assert.ok(isJsonObject(value), JSON.stringify(object));
  return value;
}

suite('the view of operators', () => {
  let working: ScriptedUpstream;
  let failing: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    working = await startUpstream(json(200, chatAnswer('ok')));
    failing = await startUpstream(json(503, { error: { message: 'down' } }));
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${failing.baseUrl}, api_key: a }
  beta: { adapter: openai-compatible, name: Beta, base_url: ${working.baseUrl}, api_key: b }
models:
  acme/one:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 0, completion: 0 } }
      - { provider: beta, model: one, price: { prompt: 1, completion: 1 } }
`,
    });
    const messages = [{ role: 'user', content: 'Hi' }];
    for (let each = 0; each < 4; each++)
      assert.equal((await gateway.post('/chat/completions', { model: 'acme/one', messages })).status, 200);
  });
  after(async () => {
    await gateway.close();
    await Promise.all([working.close(), failing.close()]);
  });

  async function endpoints(): Promise<readonly JsonObject[]> {
    const { status, body } = await manage(gateway, 'GET', '/routing/health');
    assert.equal(status, 200);
    assert.ok(Array.isArray(body['data']));
    return body['data'].filter((row) => isJsonObject(row));
  }

  test('shows each endpoint, how it does and why, those that fail first', async () => {
    const [first, second] = await endpoints();
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(
      [first['provider'], first['models'], first['status'], second['provider'], second['status']],
      ['alpha', ['acme/one'], 'failing', 'beta', 'normal'],
    );
    const { kind, status, upstream_status: upstream } = objectAt(first, 'last_failure');
    assert.deepEqual([kind, status, upstream], ['status', 502, 503]);
    assert.deepEqual([second['last_failure'], second['circuit']], [null, 'closed']);
  });

  test('has an endpoint called again at once after a reset', async () => {
    const [first] = await endpoints();
    const id = textAt(first ?? {}, 'id');
    const called = failing.arrived.length;
    assert.equal((await manage(gateway, 'POST', '/routing/health/reset', { id })).status, 200);
    const body = { model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] };
    await gateway.post('/chat/completions', body);
    assert.ok(failing.arrived.length > called, 'alpha is cheaper, and was called again');
    assert.equal((await manage(gateway, 'POST', '/routing/health/reset', { id: 'gamma none' })).status, 404);
    const { text } = await manage(gateway, 'GET', '/audit?action=resetRoutingHealth');
    assert.match(text, /alpha one/);
  });

  test('shows every part with its figures', async () => {
    const { status, body } = await manage(gateway, 'GET', '/health/details');
    assert.equal(status, 200);
    const data = objectAt(body, 'data');
    assert.deepEqual([data['status'], data['reasons'], data['redis']], ['ready', [], null]);
    const { engine, ping_ms: pingMs, bytes } = objectAt(data, 'database');
    assert.deepEqual([engine, typeof pingMs, Number(bytes) > 4_096], ['sqlite', 'number', true]);
    assert.ok(Array.isArray(data['processes']) && data['processes'].length === 1);
    const [own] = data['processes'];
    assert.ok(isJsonObject(own));
    const figures = objectAt(own, 'figures');
    assert.deepEqual([own['name'], figures['pid'], figures['records_lost']], ['gateway', process.pid, 0]);
  });

  test('shows every value of the configuration with its origin, and no secret', async () => {
    const { status, body, text } = await manage(gateway, 'GET', '/config');
    assert.equal(status, 200);
    const { file, needs_restart: waiting, values } = objectAt(body, 'data');
    assert.deepEqual([file, waiting], ['test.yaml', []]);
    assert.ok(Array.isArray(values));
    const byPath = new Map(values.filter((each) => isJsonObject(each)).map((each) => [each['path'], each]));
    const shown = (path: string) => [byPath.get(path)?.['value'], byPath.get(path)?.['origin']];
    assert.deepEqual(shown('providers.alpha.api_key'), ['(redacted)', 'test.yaml:3']);
    assert.deepEqual(shown('models.acme/one.endpoints[1].price.completion'), [1, 'test.yaml:9']);
    assert.deepEqual(shown('server.port'), [0, '--port']);
    assert.deepEqual(shown('management_key'), ['(redacted)', 'GATEWAY_MANAGEMENT_KEY']);
    assert.deepEqual(shown('observability.content_retention_days'), [30, null]);
    assert.match(textAt(byPath.get('observability.content_retention_days') ?? {}, 'meaning'), /stored/);
    assert.doesNotMatch(text, new RegExp(MANAGEMENT_KEY));
  });

  test('is refused to keys that only generate', async () => {
    for (const path of ['/routing/health', '/health/details', '/config'])
      assert.equal((await manage(gateway, 'GET', path, undefined, API_KEY)).status, 403, path);
  });
});
