import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { isJsonObject, type JsonObject } from '../../src/lib/json.ts';
import { manage, textAt } from '../support/byok.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatChunk, sse, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';
import { until } from '../support/videos/client.ts';

const REQUEST = { model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] };

suite('generations that are under way', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  let speaks = true;
  const cut: ServerResponse[] = [];
  before(async () => {
    upstream = await startUpstream((_arrived, response) => {
      response.on('close', () => cut.push(response));
      if (!speaks) return;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([chatChunk({ role: 'assistant', content: 'Twenty characters!!!' })]));
    });
    gateway = await startGateway({
      yaml: `
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 1 } }] }
`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function running(key?: string): Promise<readonly JsonObject[]> {
    const { status, body, text } = await manage(gateway, 'GET', '/generations/running', undefined, key);
    assert.equal(status, 200, text);
    assert.ok(Array.isArray(body['data']));
    assert.equal(body['total_count'], body['data'].length);
    return body['data'].filter((row) => isJsonObject(row));
  }

  async function begin(stream: boolean): Promise<{ readonly response: Promise<Response>; readonly row: JsonObject }> {
    speaks = stream;
    const response = gateway.post('/chat/completions', { ...REQUEST, stream });
    await until(async () => (await running()).length === 1 && (!stream || (await running())[0]?.['model'] !== null));
    const [row] = await running();
    assert.ok(row !== undefined);
    return { response, row };
  }

  // @spec generation-17, generation-18
  test('are listed with what came so far, and stopped with an error, a charge and an event', async () => {
    const { response, row } = await begin(true);
    const id = textAt(row, 'id');
    assert.deepEqual(
      [row['requested_model'], row['provider_name'], row['streamed'], row['tokens_so_far'], row['api_type']],
      ['acme/one', 'Alpha', true, 5, 'completions'],
    );
    assert.equal((await manage(gateway, 'POST', `/generations/${id}/stop`)).status, 200);
    const text = await (await response).text();
    assert.match(text, /Twenty characters!!!/);
    assert.match(text, /The request was stopped by its key or an operator/);
    assert.match(text, /"finish_reason":"error"/);
    await until(() => cut.length === 1);
    const record = await manage(gateway, 'GET', `/generation?id=${id}`);
    const stored = record.body['data'];
    assert.ok(isJsonObject(stored));
    assert.equal(stored['cancelled'], true);
    assert.ok(Number(stored['total_cost']) > 0, record.text);
    const audit = await manage(gateway, 'GET', '/audit?action=stopGeneration');
    assert.match(audit.text, new RegExp(id));
    assert.deepEqual(await running(), []);
    assert.equal((await manage(gateway, 'POST', `/generations/${id}/stop`)).status, 404);
  });

  // @spec generation-18
  test('are refused with a status that clients do not retry where nothing came yet', async () => {
    const { response, row } = await begin(false);
    assert.deepEqual([row['model'], row['time_to_first_token']], [null, null]);
    await manage(gateway, 'POST', `/generations/${textAt(row, 'id')}/stop`);
    assert.equal((await response).status, 403);
  });

  // @spec generation-17
  test('are seen and stopped by their own key, and by no other', async () => {
    const { body } = await manage(gateway, 'POST', '/keys', { name: 'Other' });
    const other = textAt(body, 'key');
    const { response, row } = await begin(false);
    const path = `/generations/${textAt(row, 'id')}/stop`;
    assert.deepEqual(await running(other), []);
    assert.equal((await manage(gateway, 'POST', path, undefined, other)).status, 404);
    assert.equal((await running(API_KEY)).length, 1);
    assert.equal((await manage(gateway, 'POST', path, undefined, API_KEY)).status, 200);
    assert.equal((await response).status, 403);
  });
});
