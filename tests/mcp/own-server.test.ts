import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { chatAnswer, json, startUpstream, type ScriptedUpstream } from '../support/upstream.ts';

const USAGE = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 };
const TOOLS = [
  'credits',
  'generate-image',
  'get-generation',
  'get-model',
  'list-model-endpoints',
  'list-models',
  'list-providers',
  'search-docs',
  'send-feedback',
  'send-message',
];

/** `fetch` sends no host of its own choice. */
function postAs(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const sent = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  return new Promise((resolve, reject) => {
    request(`${url}/mcp`, { method: 'POST', headers: sent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end(body);
  });
}

suite('the gateway as an MCP server', () => {
  let upstream: ScriptedUpstream;
  let gateway: RunningGateway;
  before(async () => {
    upstream = await startUpstream(json(200, chatAnswer('Hello back.', { usage: USAGE })));
    gateway = await startGateway({
      yaml: `
server: { public_url: "https://gateway.example" }
mcp_server: { enabled: true, allowed_origins: ["https://app.example"] }
providers:
  alpha: { adapter: openai-compatible, name: Alpha, base_url: ${upstream.baseUrl}, api_key: a }
models:
  acme/one: { name: Acme One, endpoints: [{ provider: alpha, model: one, price: { prompt: 1, completion: 10 } }] }
`,
    });
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function connect(mode: 'auto' | 'legacy', key = API_KEY, path = '/mcp'): Promise<Client> {
    const transport = new StreamableHTTPClientTransport(new URL(gateway.url + path), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    return client;
  }
  const post = (body: unknown, headers: Record<string, string> = {}, path = '/mcp') =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: args });
    const text = (result.content as { type: string; text?: string }[]).find((block) => block.type === 'text')?.text;
    return { isError: result.isError === true, json: JSON.parse(text ?? 'null') as Record<string, unknown>, result };
  };

  for (const mode of ['auto', 'legacy'] as const)
    // @spec own-mcp-1, own-mcp-2
    test(`lists and calls tools for the official client, protocol: ${mode}`, async () => {
      const client = await connect(mode, API_KEY, mode === 'auto' ? '/mcp' : '/api/v1/mcp');
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name).toSorted(), TOOLS);
      for (const { name, inputSchema, outputSchema, annotations } of tools) {
        assert.equal(inputSchema.type, 'object', name);
        assert.equal(outputSchema?.type, 'object', name);
        assert.equal(typeof annotations?.readOnlyHint, 'boolean', name);
      }
      const { json: models, result } = await call(client, 'list-models', { query: 'acme' });
      assert.deepEqual(
        (models['data'] as { id: string }[]).map(({ id }) => id),
        ['acme/one'],
      );
      assert.deepEqual(result.structuredContent, models);
      const { json: model } = await call(client, 'get-model', { model: 'acme/one' });
      assert.equal((model['data'] as { id: string }).id, 'acme/one');
      const { json: endpoints } = await call(client, 'list-model-endpoints', { model: 'acme/one' });
      assert.equal((endpoints['data'] as { endpoints: object[] }).endpoints.length, 1);
      const { json: docs } = await call(client, 'search-docs', {
        query: 'standard webhooks signature secret rotation',
        limit: 3,
      });
      assert.match(JSON.stringify(docs), /notifications\.md/);
      await client.close();
    });

  // @spec own-mcp-3
  test('charges a message to the key, within its limits, and shows its own generations alone', async () => {
    const response = await fetch(`${gateway.baseUrl}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mcp', limit: 0.001 }),
    });
    const { key } = (await response.json()) as { key: string };
    const client = await connect('auto', key);
    const { json: answer } = await call(client, 'send-message', { model: 'acme/one', message: 'Hi', max_tokens: 90 });
    assert.equal(answer['text'], 'Hello back.');
    assert.equal(
      upstream.arrived.at(-1)?.body['max_tokens'] ?? upstream.arrived.at(-1)?.body['max_completion_tokens'],
      90,
    );
    const { json: record } = await call(client, 'get-generation', { id: answer['id'] });
    assert.equal((record['data'] as { total_cost: number }).total_cost, 0.00101);
    const { json: credits } = await call(client, 'credits');
    assert.deepEqual([credits['limit'], credits['usage']], [0.001, 0.00101]);
    const spent = await call(client, 'send-message', { model: 'acme/one', message: 'Hi' });
    assert.deepEqual([spent.isError, spent.json['code'], spent.json['error_type']], [true, 402, 'payment_required']);
    assert.deepEqual(
      await call(client, 'send-feedback', { generation_id: answer['id'], category: 'other' }).then(
        ({ json: its }) => its,
      ),
      { success: true },
    );
    const other = await connect('auto');
    const foreign = await call(other, 'get-generation', { id: answer['id'] });
    assert.deepEqual([foreign.isError, foreign.json['code']], [true, 404]);
    await Promise.all([client.close(), other.close()]);
  });

  // @spec own-mcp-4
  test('makes what fails an error of the tool that a model can read', async () => {
    const client = await connect('auto');
    const unknown = await call(client, 'send-message', { model: 'acme/none', message: 'Hi' });
    assert.deepEqual([unknown.isError, unknown.json['code']], [true, 404]);
    assert.match(String(unknown.json['message']), /acme\/none/);
    const malformed = await call(client, 'get-model', { model: 'none' });
    assert.deepEqual([malformed.isError, malformed.json['code']], [true, 400]);
    const category = await call(client, 'send-feedback', { generation_id: 'gen-1', category: 'x' });
    assert.equal(category.json['code'], 404);
    await client.close();
  });

  // @spec own-mcp-5
  test('refuses a call without a normal key, from a foreign page, with another method or a key in its address', async () => {
    const status = async (response: Promise<Response>): Promise<readonly [number, string]> => {
      const { status: code, headers } = await response;
      return [code, headers.get('www-authenticate') ?? headers.get('allow') ?? ''];
    };
    assert.deepEqual(await status(post(LIST, { authorization: '' })), [401, 'Bearer']);
    assert.deepEqual(await status(post(LIST, { authorization: `Bearer ${MANAGEMENT_KEY}` })), [403, '']);
    assert.deepEqual(await status(post(LIST, { origin: 'https://evil.example' })), [403, '']);
    assert.deepEqual(await status(post(LIST, { origin: 'null' })), [403, '']);
    assert.equal((await post(LIST, { origin: 'https://app.example' })).status, 200);
    assert.equal((await post(LIST, { origin: gateway.url })).status, 200);
    const { host, hostname } = new URL(gateway.url);
    // Another program of the machine, and the same address without TLS, are other origins.
    for (const origin of [`http://${hostname}:1`, `http://${hostname}`, `https://${host}`])
      assert.deepEqual(await status(post(LIST, { origin })), [403, ''], origin);
    const forwarded = { host: 'gateway.example', 'x-forwarded-proto': 'https' };
    assert.deepEqual(await postAs(gateway.url, { ...forwarded, origin: 'https://gateway.example' }), 200);
    assert.deepEqual(await postAs(gateway.url, { ...forwarded, origin: 'http://gateway.example' }), 403);
    assert.deepEqual(await postAs(gateway.url, { ...forwarded, origin: 'https://gateway.example:8443' }), 403);
    assert.deepEqual(await status(post(LIST, {}, `/mcp?access_token=${API_KEY}`)), [400, '']);
    assert.deepEqual(await status(fetch(`${gateway.url}/mcp`)), [405, 'POST']);
    assert.deepEqual(await status(fetch(`${gateway.url}/v1/mcp`, { method: 'DELETE' })), [405, 'POST']);
    assert.equal((await post({ ...LIST, params: { x: 'y'.repeat(1_100_000) } })).status, 413);
    assert.equal((await post(LIST, { 'mcp-protocol-version': '1999-01-01' })).status, 400);
  });

  // @spec own-mcp-4
  test('makes wrong arguments an error of the tool, with the path of each', async () => {
    for (const [name, args, path] of [
      ['get-model', {}, 'model'],
      ['list-models', { limit: 'many' }, 'limit'],
      ['send-message', { model: 'acme/one', message: 'Hi', max_tokens: 100_000 }, 'max_tokens'],
    ] as const) {
      const response = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
      const data = /^data: (.*)$/m.exec(await response.text())?.[1] ?? '';
      const { result } = JSON.parse(data) as { result: { isError?: boolean; content: { text: string }[] } };
      const failure = JSON.parse(result.content[0]?.text ?? '') as {
        code: number;
        error_type: string;
        message: string;
      };
      assert.deepEqual([result.isError, failure.code, failure.error_type], [true, 400, 'invalid_request'], name);
      assert.match(failure.message, new RegExp(`^${path}: `));
    }
  });

  // @spec own-mcp-14
  test('lets pages of allowed origins read its answers, refusals too, and no others', async () => {
    const read = async (origin: string, more: Record<string, string> = {}) => {
      const { headers } = await post(LIST, { origin, ...more });
      return [headers.get('access-control-allow-origin'), headers.get('vary')];
    };
    assert.deepEqual(await read('https://app.example'), ['https://app.example', 'Origin']);
    assert.deepEqual(await read('https://app.example', { authorization: '' }), ['https://app.example', 'Origin']);
    const refused = await post(LIST, { origin: 'https://app.example', authorization: '' });
    assert.match(refused.headers.get('access-control-expose-headers') ?? '', /WWW-Authenticate/);
    assert.deepEqual(await read('https://evil.example'), [null, null]);
    assert.deepEqual(await read(gateway.url), [null, null]);
  });

  // @spec own-mcp-2
  test('says how long the list of tools may be kept', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const response = await post(
      { ...LIST, params: { _meta } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    );
    const { result } = (await response.json()) as { result: { ttlMs: number; cacheScope: string } };
    assert.deepEqual([result.ttlMs, result.cacheScope], [300_000, 'private']);
  });

  // @spec own-mcp-6
  test('aborts the call of a model when its caller hangs up', async () => {
    const aborted = Promise.withResolvers<boolean>();
    upstream.script = (_arrived, response) => {
      response.on('close', () => aborted.resolve(!response.writableFinished));
    };
    const controller = new AbortController();
    const earlier = upstream.arrived.length;
    const pending = fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'send-message', arguments: { model: 'acme/one', message: 'Hi' } },
      }),
    }).catch(() => undefined);
    for (let tries = 0; upstream.arrived.length === earlier && tries < 400; tries++)
      await new Promise((done) => setTimeout(done, 5));
    controller.abort();
    await pending;
    assert.ok(await aborted.promise);
    upstream.script = json(200, chatAnswer('Hello back.', { usage: USAGE }));
  });
});

// @spec own-mcp-1
test('is off unless the operator turns it on, and says how', async () => {
  const gateway = await startGateway();
  for (const path of ['/mcp', '/v1/mcp', '/api/v1/mcp']) {
    const response = await fetch(gateway.url + path, { method: 'POST', body: '{}' });
    assert.equal(response.status, 404);
    assert.match(await response.text(), /mcp_server: \{ enabled: true \}/);
  }
  await gateway.close();
});
