import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const USAGE = { prompt_tokens: 0, completion_tokens: 100_000, total_tokens: 100_000 };

function rowsOf(body: JsonObject): readonly JsonObject[] {
  assert.ok(Array.isArray(body['data']), JSON.stringify(body));
  return body['data'].filter((row) => isJsonObject(row));
}

suite('what bounds a key', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  let hash = '';
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    gateway = await startGateway({
      yaml: `
credits: { enforce: true }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
`,
    });
    await manage(gateway, 'POST', '/credits/grants', { amount: 100, note: 'Start' });
    const made = await manage(gateway, 'POST', '/keys', { name: 'Bounded', limit: 10, limit_reset: 'monthly' });
    assert.ok(isJsonObject(made.body['data']));
    hash = textAt(made.body['data'], 'hash');
    const workspace = textAt(made.body['data'], 'workspace_id');
    const budget = await manage(gateway, 'PUT', `/workspaces/${workspace}/budgets/daily`, { limit_usd: 3 });
    assert.equal(budget.status, 200, budget.text);
    const headers = { authorization: `Bearer ${textAt(made.body, 'key')}` };
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = { model: 'acme/one', max_tokens: 100_000, messages };
    assert.equal((await gateway.post('/chat/completions', body, headers)).status, 200);
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  test('is listed of all layers, the tightest first, with what is spent of it', async () => {
    const { body } = await manage(gateway, 'GET', `/keys/${hash}/limits`);
    assert.deepEqual(
      rowsOf(body).map(({ kind, limit, spent, left, reset }) => [kind, limit, spent, left, reset]),
      [
        ['workspace', 3, 1, 2, 'daily'],
        ['key', 10, 1, 9, 'monthly'],
        ['account', 100, 1, 99, null],
      ],
    );
    const [day] = rowsOf(body);
    assert.match(textAt(day ?? {}, 'resets_at'), /T00:00:00\.000Z$/);
    assert.equal((await manage(gateway, 'GET', '/keys/none/limits')).status, 404);
  });

  test('stands beside each listed key that wants it', async () => {
    const plain = rowsOf((await manage(gateway, 'GET', '/keys')).body);
    assert.ok(plain.every((row) => !('binding' in row)));
    const [row] = rowsOf((await manage(gateway, 'GET', '/keys?include=binding')).body);
    const binding = row?.['binding'];
    assert.ok(isJsonObject(binding));
    assert.deepEqual([binding['kind'], binding['left']], ['workspace', 2]);
  });

  test('is looked for among management keys only where they are wanted', async () => {
    const { status, body } = await manage(gateway, 'GET', '/keys?kind=management');
    assert.deepEqual([status, rowsOf(body)], [200, []]);
  });
});
