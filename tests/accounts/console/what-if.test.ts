import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../../src/lib/json.ts';
import { manage, textAt } from '../../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../../support/gateway.ts';
import { signIn, type SignedIn } from '../../support/http/console-client.ts';

const REQUEST = { model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] };
const EXPLAIN = '/ui/api/v1/route/explain';

function tags(explanation: JsonObject, member: string): readonly unknown[] {
  const rows = explanation[member];
  assert.ok(Array.isArray(rows), JSON.stringify(explanation));
  return rows.filter((row) => isJsonObject(row)).map(({ tag }) => tag);
}

suite('what if', () => {
  let gateway: RunningGateway;
  let operator: SignedIn;
  let guarded = '';
  before(async () => {
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: a }
  beta: { adapter: openai-compatible, base_url: 'http://127.0.0.1:9/v1', api_key: b }
models:
  acme/one:
    endpoints:
      - { provider: alpha, model: one, price: { prompt: 1, completion: 1 } }
      - { provider: beta, model: one, price: { prompt: 2, completion: 2 } }
  acme/two: { endpoints: [{ provider: alpha, model: two, price: { prompt: 1, completion: 1 } }] }
`,
    });
    operator = await signIn(gateway);
    const key = await manage(gateway, 'POST', '/keys', { name: 'Guarded' });
    const { data } = key.body;
    assert.ok(isJsonObject(data));
    guarded = textAt(data, 'hash');
    const rules = { name: 'Beta alone', allowed_providers: ['beta'] };
    const guardrail = await manage(gateway, 'POST', '/guardrails', rules);
    assert.ok(isJsonObject(guardrail.body['data']));
    const path = `/guardrails/${textAt(guardrail.body['data'], 'id')}/assignments/keys`;
    assert.equal((await manage(gateway, 'POST', path, { key_hashes: [guarded] })).status, 200);
  });
  after(() => gateway.close());

  const explain = async (more: object): Promise<JsonObject> => {
    const { status, text, body } = await operator.call('POST', EXPLAIN, { ...REQUEST, ...more });
    assert.equal(status, 200, text);
    return body;
  };

  // @spec console-16
  test('endpoints are down or rest: they are not tried, and nothing is known of them afterwards', async () => {
    assert.deepEqual(tags(await explain({}), 'candidates'), ['alpha', 'beta']);
    const pretended = await explain({ pretend: { down: ['alpha'] } });
    assert.deepEqual([tags(pretended, 'candidates'), tags(pretended, 'resting')], [['beta'], ['alpha']]);
    assert.deepEqual(tags(await explain({ pretend: { resting: ['beta one'] } }), 'candidates'), ['alpha']);
    assert.deepEqual(tags(await explain({ pretend: { down: ['alpha'], resting: ['beta'] } }), 'candidates'), []);
    assert.deepEqual(tags(await explain({}), 'candidates'), ['alpha', 'beta']);
  });

  // @spec console-16
  test('another key asks: its guardrails hold', async () => {
    const explained = await explain({ as_key: guarded });
    assert.deepEqual([tags(explained, 'candidates'), tags(explained, 'excluded')], [['beta'], ['alpha']]);
    const models = async (query: string): Promise<string> =>
      (await operator.call('GET', `/ui/api/v1/models/user${query}`)).text;
    assert.match(await models(''), /acme\/two/);
    const seen = await models(`?as_key=${guarded}`);
    assert.match(seen, /acme\/one/);
    assert.doesNotMatch(seen, /acme\/two/);
  });

  // @spec console-16
  test('a member, a wrong key and a wrong name are refused, and /v1 takes neither', async () => {
    const member = await signIn(gateway, { key: API_KEY });
    for (const more of [{ as_key: guarded }, { pretend: { down: ['alpha'] } }])
      assert.equal((await member.call('POST', EXPLAIN, { ...REQUEST, ...more })).status, 403);
    assert.equal((await member.call('POST', EXPLAIN, REQUEST)).status, 200);
    assert.equal((await member.call('GET', `/ui/api/v1/models/user?as_key=${guarded}`)).status, 403);
    for (const [more, path] of [
      [{ as_key: 'x' }, /as_key/],
      [{ pretend: { away: [] } }, /pretend/],
      [{ pretend: { down: [''] } }, /pretend\.down/],
    ] as const) {
      const { status, text } = await operator.call('POST', EXPLAIN, { ...REQUEST, ...more });
      assert.equal(status, 400, text);
      assert.match(text, path);
    }
    const plain = await gateway.post('/route/explain', { ...REQUEST, pretend: { down: ['alpha'] } });
    const text = await plain.text();
    // There it is a member like any other that the format does not know.
    assert.ok(plain.status === 400 || /"resting":\[\]/.test(text), text);
  });
});
