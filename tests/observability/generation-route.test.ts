import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const LOOKS_MAX = 300;
/** A decision about so many endpoints is longer than what the event loop compresses by itself. */
const MANY = 200;
const USAGE = { prompt_tokens: 4, completion_tokens: 4, total_tokens: 8 };

function rowsAt(object: JsonObject, member: string): readonly JsonObject[] {
  const rows = object[member];
  assert.ok(Array.isArray(rows), JSON.stringify(object));
  return rows.filter((row) => isJsonObject(row));
}

suite('GET /generation/route', { concurrency: true }, () => {
  let working: ScriptedUpstream;
  let failing: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    working = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    failing = await startUpstream(json(503, { error: { message: 'down' } }));
    gateway = await startGateway({
      random: () => 0.5,
      yaml: `
observability: { route_log: { sample: 0.4 } }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${failing.baseUrl}, api_key: a }
  beta: { adapter: openai-compatible, name: Beta, base_url: ${working.baseUrl}, api_key: b }
models:
  acme/one:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 0, completion: 0 } }
      - { provider: beta, model: one, price: { prompt: 1, completion: 2 } }
  acme/two:
    endpoints:
      - { provider: beta, model: two, context_length: 10, price: { prompt: 1, completion: 1 } }
  acme/wide:
    endpoints:
${Array.from({ length: MANY }, (_, index) => `      - { provider: beta, model: wide-${index}, price: { prompt: 1, completion: ${index} } }`).join('\n')}
`,
    });
  });
  after(async () => {
    await gateway.close();
    await Promise.all([working.close(), failing.close()]);
  });

  async function ask(model: string, more: object = {}, headers: Record<string, string> = {}): Promise<string> {
    const messages = [{ role: 'user', content: 'Hi' }];
    const answer = await gateway.post('/chat/completions', { model, messages, ...more }, headers);
    await answer.arrayBuffer();
    return answer.headers.get('x-generation-id') ?? '';
  }

  /** It is written behind the response. */
  async function routeOf(id: string, key?: string): Promise<JsonObject> {
    for (let look = 0; ; look++) {
      const { status, body, text } = await manage(gateway, 'GET', `/generation/route?id=${id}`, undefined, key);
      if (status === 200) {
        assert.ok(isJsonObject(body['data']));
        return body['data'];
      }
      assert.ok(status === 404 && look < LOOKS_MAX, text);
      await wait(10);
    }
  }

  // @spec generation-16
  test('shows each endpoint with what became of it, and each attempt', async () => {
    const route = await routeOf(await ask('acme/one', { provider: { sort: 'price' } }));
    assert.deepEqual(
      rowsAt(route, 'considered').map(({ provider, outcome, order, price }) => [provider, outcome, order, price]),
      [
        ['Alpha', 'failed', 1, { prompt: 0, completion: 0 }],
        ['Beta', 'served', 2, { prompt: 1, completion: 2 }],
      ],
    );
    assert.deepEqual(
      rowsAt(route, 'attempts').map(({ tag, status }) => [tag, status]),
      [
        ['alpha', 503],
        ['beta', 200],
      ],
    );
    assert.equal(route['ordering'], 'price');
  });

  test('shows every endpoint of a model that has two hundred', async () => {
    const route = await routeOf(await ask('acme/wide', {}, { 'x-service-metadata': 'enabled' }));
    const considered = rowsAt(route, 'considered');
    assert.equal(considered.length, MANY);
    assert.ok(JSON.stringify(route).length > 32_768, `${JSON.stringify(route).length}`);
    assert.deepEqual(
      considered.filter(({ outcome }) => outcome === 'served').map(({ price }) => price),
      [{ prompt: 1, completion: 0 }],
    );
  });

  test('says of a refused request why each endpoint was left out', async () => {
    const id = await ask('acme/one', { provider: { max_price: { completion: 1 }, only: ['beta'] } });
    const outcomes = rowsAt(await routeOf(id), 'considered').map(({ provider, outcome, reason }) => [
      provider,
      outcome,
      reason,
    ]);
    assert.deepEqual(outcomes, [
      ['Alpha', 'excluded', 'allowed_providers'],
      ['Beta', 'excluded', 'max_price'],
    ]);
  });

  test('is kept for a plain success only where it wanted metadata, or was drawn', async () => {
    // Those with tools are tried in the order of their quality, which routing reports.
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const [plain, wanting] = [
      await ask('acme/one', { provider: { only: ['beta'] }, tools }),
      await ask('acme/two', {}, { 'x-service-metadata': 'enabled' }),
    ];
    await routeOf(wanting);
    const { status, text } = await manage(gateway, 'GET', `/generation/route?id=${plain}`);
    assert.equal(status, 404);
    assert.match(text, /route_log/);
  });

  test('is shown to the own key and to management keys alone', async () => {
    const { body } = await manage(gateway, 'POST', '/keys', { name: 'Other' });
    const id = await ask('acme/one', { provider: { only: ['gamma'] } });
    await routeOf(id, API_KEY);
    const other = await manage(gateway, 'GET', `/generation/route?id=${id}`, undefined, textAt(body, 'key'));
    assert.equal(other.status, 403, other.text);
  });
});
