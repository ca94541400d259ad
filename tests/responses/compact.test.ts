import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { textOf } from '../../src/wire/json-fields.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { json } from '../support/upstream.ts';
import { startAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';

const LONG = 'The bridge over the river must carry forty tonnes. '.repeat(400);

function ask(text: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

async function post(gateway: RunningGateway, path: string, body: JsonObject): Promise<JsonObject> {
  const response = await gateway.post(path, body);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text) as JsonObject;
}

suite('POST /responses/compact', () => {
  // @spec responses-99, responses-103, responses-pains-41
  test('gives the latest messages and one sealed summary, which the next request opens', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const input = [ask(LONG), { type: 'message', role: 'assistant', content: 'Noted.' }, ask('And two lanes.')];
    const compacted = await post(gateway, '/responses/compact', { model: 'sandbox/echo', input });
    assert.equal(compacted['object'], 'response.compaction');
    const output = compacted['output'] as JsonObject[];
    assert.deepEqual(
      output.map(({ type, role }) => role ?? type),
      ['user', 'user', 'compaction'],
    );
    assert.match(textOf(output[2]?.['encrypted_content']) ?? '', /^sc1\.v1\./);
    assert.ok((compacted['usage'] as { output_tokens: number }).output_tokens > 0, 'it was a generation');
    // The sandbox echoes: what it says next is what it was sent last, the summary among it.
    const next = await post(gateway, '/responses', { model: 'sandbox/echo', input: [output[2] ?? {}] });
    assert.match(textOf(next['output_text']) ?? '', /summary/i);
  });

  // @spec responses-102
  test('gives a short history back as it is, for nothing', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const compacted = await post(gateway, '/responses/compact', { model: 'sandbox/echo', input: 'Hello' });
    assert.equal((compacted['output'] as JsonObject[])[0]?.['role'], 'user');
    assert.equal((compacted['usage'] as { total_tokens: number }).total_tokens, 0);
  });

  // @spec responses-102
  test('checks the model of a short history, and refuses a trigger with nothing before it', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const trigger = { type: 'compaction_trigger' };
    for (const [path, body, status, param] of [
      ['/responses/compact', { model: 'no/such', input: 'Hello' }, 404, null],
      ['/responses/compact', { input: 'Hello' }, 400, 'model'],
      ['/responses', { model: 'sandbox/echo', input: [trigger] }, 400, 'input'],
    ] as const) {
      const refused = await gateway.post(path, body);
      const { error } = (await refused.json()) as { error: JsonObject };
      assert.deepEqual([refused.status, error['param']], [status, param]);
    }
  });

  // @spec responses-102, responses-103, responses-pains-41
  test('refuses an empty input, and a summary that was changed, at its place', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const empty = await gateway.post('/responses/compact', { model: 'sandbox/echo', input: [] });
    assert.equal(empty.status, 400);
    const broken = { type: 'compaction', encrypted_content: 'sc1.v1.0a1b2c3d4e5f.AAAA' };
    const refused = await gateway.post('/responses', { model: 'sandbox/echo', input: [broken, ask('Go on.')] });
    const { error } = (await refused.json()) as { error: JsonObject };
    assert.deepEqual([refused.status, error['param']], [400, 'input[0].encrypted_content']);
  });

  // @spec responses-104, responses-pains-41
  test('makes of a stream that ends in a trigger one compaction item, and shows no text of it', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const said = { type: 'message', role: 'assistant', content: 'Noted.' };
    const input = [ask(LONG), said, ask('Two lanes.'), { type: 'compaction_trigger' }];
    const response = await gateway.post('/responses', { model: 'sandbox/echo', input, stream: true });
    const types = [...(await response.text()).matchAll(/^event: (.+)$/gm)].map(([, type]) => type);
    assert.deepEqual(types, [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.output_item.done',
      'response.completed',
    ]);
  });
});

suite('a compaction that continues a kept response', () => {
  test('is of the whole conversation, and is kept with its own items alone', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const model = 'sandbox/echo';
    const first = await post(gateway, '/responses', { model, input: [ask(LONG)] });
    const previous_response_id = first['id'] ?? null;
    const compacted = await post(gateway, '/responses/compact', { model, previous_response_id, input: 'Go on.' });
    const output = compacted['output'] as JsonObject[];
    assert.match(JSON.stringify(output[0]), /forty tonnes/);
    const input = [ask('Go on.'), { type: 'compaction_trigger' }];
    const kept = await post(gateway, '/responses', { model, previous_response_id, input, store: true });
    const listed = await fetch(`${gateway.url}/v1/responses/${textOf(kept['id'])}/input_items?order=asc`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { data } = (await listed.json()) as { data: readonly JsonObject[] };
    assert.deepEqual(
      data.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
  });
});

suite('the record of a compaction', () => {
  // @spec generation-20
  test('says that it is one, on both routes, and of no other request', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const model = 'sandbox/echo';
    const trigger = [ask(LONG), { type: 'compaction_trigger' }];
    for (const [path, input, origin] of [
      ['/responses/compact', [ask(LONG)], 'compaction'],
      ['/responses', trigger, 'compaction'],
      ['/responses', [ask(LONG)], 'request'],
    ] as const) {
      const response = await gateway.post(path, { model, input });
      await response.text();
      const id = response.headers.get('x-generation-id') ?? '';
      const found = await fetch(`${gateway.url}/v1/generation?id=${id}`, {
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      });
      const { data } = (await found.json()) as { data: JsonObject };
      assert.deepEqual([data['request_origin'], data['api_type']], [origin, 'completions'], path);
    }
  });
});

suite('POST /responses/input_tokens', () => {
  // @spec responses-105
  test('counts without a generation, and checks the request like one', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const counted = await post(gateway, '/responses/input_tokens', { model: 'sandbox/echo', input: LONG });
    assert.equal(counted['object'], 'response.input_tokens');
    assert.ok((counted['input_tokens'] as number) > 2_000);
    const refused = await gateway.post('/responses/input_tokens', { model: 'sandbox/echo', input: [{}] });
    assert.equal(refused.status, 400);
  });

  // @spec responses-127
  test('lets a vendor count that can, with what counts of the request, and estimates elsewhere', async (t) => {
    const { gateway, upstream } = await startAllUpstreams(t);
    const count = async (served: UpstreamName): Promise<unknown> => {
      upstream.arrived.length = 0;
      const counted = await post(gateway, '/responses/input_tokens', {
        model: `acme/${served}`,
        instructions: 'Be brief.',
        input: [ask('Hello')],
        tools: [{ type: 'function', name: 'ls', parameters: { type: 'object', properties: {} } }],
        max_output_tokens: 500,
        stream: true,
      });
      return counted['input_tokens'];
    };
    upstream.script = json(200, { object: 'response.input_tokens', input_tokens: 4_321 });
    assert.equal(await count('responses'), 4_321);
    const [arrived] = upstream.arrived;
    assert.equal(arrived?.path, '/v1/responses/v1/responses/input_tokens');
    assert.deepEqual(Object.keys(arrived.body).toSorted(), ['input', 'model', 'tools']);
    assert.match(arrived.text, /Be brief/);
    assert.equal(await count('claude'), 4_321);
    assert.equal(upstream.arrived[0]?.path, '/v1/claude/v1/messages/count_tokens');
    upstream.script = json(500, { error: { message: 'down' } });
    assert.notEqual(await count('responses'), 4_321);
    assert.ok(Number(await count('gemini')) > 0);
    assert.deepEqual(upstream.arrived, []);
  });
});
