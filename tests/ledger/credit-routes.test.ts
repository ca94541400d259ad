import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const USAGE = { prompt_tokens: 0, completion_tokens: 100, total_tokens: 100 };
const LOOKS_MAX = 200;

function dataOf(body: JsonObject): JsonObject {
  assert.ok(isJsonObject(body['data']), JSON.stringify(body));
  return body['data'];
}

function rowsOf(body: JsonObject): readonly JsonObject[] {
  assert.ok(Array.isArray(body['data']), JSON.stringify(body));
  return body['data'].filter((row) => isJsonObject(row));
}

suite('routes of credit', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  let generation = '';
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('ok', { usage: USAGE })));
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 10 } }] }
`,
    });
    const messages = [{ role: 'user', content: 'Hi' }];
    const answer = await gateway.post('/chat/completions', { model: 'acme/one', max_tokens: 100, messages });
    const body: unknown = JSON.parse(await answer.text());
    assert.ok(isJsonObject(body));
    generation = textAt(body, 'id');
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  // @spec money-43
  test('add adjustments and refunds as entries, and list them all with filters', async () => {
    const adjusted = await manage(gateway, 'POST', '/credits/adjustments', { amount: -2.5, note: 'Wrong grant' });
    assert.deepEqual([adjusted.status, dataOf(adjusted.body)['amount']], [201, -2.5]);
    const part = { generation_id: generation, amount: 0.0004, note: 'Slow' };
    assert.equal((await manage(gateway, 'POST', '/credits/refunds', part)).status, 201);
    const rest = await manage(gateway, 'POST', '/credits/refunds', { generation_id: generation, note: 'Wrong' });
    assert.equal(dataOf(rest.body)['amount'], 0.0006);
    const { body } = await manage(gateway, 'GET', '/credits/entries');
    assert.deepEqual(
      rowsOf(body).map(({ kind, amount }) => [kind, amount]),
      [
        ['refund', 0.0006],
        ['refund', 0.0004],
        ['adjustment', -2.5],
        ['usage', -0.001],
      ],
    );
    const charges = rowsOf((await manage(gateway, 'GET', '/credits/entries?kind=usage&limit=1')).body);
    assert.deepEqual([charges.length, charges[0]?.['generation_id']], [1, generation]);
    const [key, workspace] = [textAt(charges[0] ?? {}, 'key_hash'), textAt(charges[0] ?? {}, 'workspace_id')];
    for (const [query, found] of [
      [`key=${key}`, 1],
      ['key=none', 0],
      [`workspace=${workspace}&kind=usage`, 1],
      ['workspace=none', 0],
    ] as const)
      assert.equal(rowsOf((await manage(gateway, 'GET', `/credits/entries?${query}`)).body).length, found, query);
  });

  test('refuse what is no change, or more than is left, and say why', async () => {
    for (const [path, body, status, words] of [
      ['/credits/adjustments', { amount: 0, note: 'Nothing' }, 400, /amount/],
      ['/credits/adjustments', { amount: 1 }, 400, /note/],
      ['/credits/refunds', { generation_id: generation, amount: 1, note: 'Much' }, 404, /Nothing is left/],
      ['/credits/refunds', { generation_id: 'gen-none', note: 'None' }, 404, /gen-none/],
    ] as const) {
      const { status: answered, text } = await manage(gateway, 'POST', path, body);
      assert.equal(answered, status, text);
      assert.match(text, words);
    }
  });

  test('enter a repeated change once, and audit each change with its values', async () => {
    const send = (amount: number) =>
      fetch(`${gateway.baseUrl}/credits/adjustments`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${MANAGEMENT_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': 'adjust-1',
        },
        body: JSON.stringify({ amount, note: 'Once' }),
      });
    assert.deepEqual([(await send(3)).status, (await send(3)).status, (await send(4)).status], [201, 200, 409]);
    const events = rowsOf((await manage(gateway, 'GET', '/audit?action=adjustCredits')).body);
    assert.deepEqual(
      events.map(({ changes }) => (isJsonObject(changes) ? changes['amount'] : changes)),
      [3, -2.5],
    );
  });

  // @spec operation-9
  test('compare both sides of the books to the nano-dollar, as a job', async () => {
    const started = await manage(gateway, 'POST', '/credits/verify');
    assert.equal(started.status, 202);
    const id = textAt(dataOf(started.body), 'id');
    let found = dataOf(started.body);
    for (let look = 0; look < LOOKS_MAX && found['status'] === 'running'; look++) {
      await wait(10);
      found = dataOf((await manage(gateway, 'GET', `/credits/verify/${id}`)).body);
    }
    const { status, generations, entries, cost_nano_usd: cost, charged_nano_usd: charged, differences } = found;
    assert.deepEqual(
      { status, generations, entries, cost, charged, differences },
      { status: 'agrees', generations: 1, entries: 1, cost: '1000000', charged: '1000000', differences: [] },
    );
    const other = await manage(gateway, 'GET', '/credits/verify/00000000-0000-4000-8000-000000000009');
    assert.equal(other.status, 404);
  });
});
