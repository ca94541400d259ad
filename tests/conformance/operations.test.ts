import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { parsePrometheus, type Sample } from '../support/http/prometheus.ts';

const gateway = await startGateway();
after(() => gateway.close());
const messages = [{ role: 'user', content: 'hi' }];

suite('health', () => {
  for (const path of ['/health/live', '/health/ready'])
    // @spec operation-1
    test(`is 200 without a key: GET ${path}`, async () => {
      const response = await fetch(gateway.url + path);
      assert.equal(response.status, 200);
      assert.equal(((await response.json()) as { status: string }).status, 'ok');
    });

  // @spec auth-20, operation-1
  test('ends readiness with the drain, before the last request ends', async (t) => {
    const closing = await startGateway();
    const long = await closing.post('/chat/completions', {
      model: 'sandbox/long',
      stream: true,
      messages: [{ role: 'user', content: 'tokens=60 every=10' }],
    });
    const probes = new Set<number | string>();
    const closed = closing.close();
    t.after(() => closed);
    // A connection that was open before can still send requests; a new one is refused.
    for (let tries = 0; tries < 20; tries++) {
      const status = await fetch(`${closing.url}/health/ready`).then(
        (response) => response.status,
        () => 'refused',
      );
      probes.add(status);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(!probes.has(200), [...probes].join(' '));
    assert.match(await long.text(), /data: \[DONE\]\n\n$/);
  });
});

suite('metrics', () => {
  // @spec operation-3
  test('are valid Prometheus text with the documented names and labels', async () => {
    const streamed = await gateway.post('/chat/completions', { model: 'sandbox/echo', stream: true, messages });
    await streamed.text();
    await (await gateway.post('/messages', { model: 'sandbox/echo', max_tokens: 9, messages })).text();
    await (await gateway.post('/messages', { model: 'sandbox/error-500', max_tokens: 9, messages })).text();
    await (await gateway.post('/chat/completions', { model: 'sandbox/echo' })).text();
    const response = await fetch(`${gateway.url}/metrics`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const samples = parsePrometheus(await response.text());
    const value = (name: string, labels: Record<string, string>): number | undefined =>
      samples.find((sample) => sample.name === name && matches(sample, labels))?.value;
    const sandbox = { model: 'sandbox/echo', provider: 'sandbox' };
    assert.equal(value('gateway_requests_total', { format: 'chat', status: '200', ...sandbox }), 1);
    assert.equal(value('gateway_requests_total', { format: 'messages', status: '200', ...sandbox }), 1);
    assert.equal(value('gateway_requests_total', { format: 'messages', status: '502' }), 1);
    assert.equal(value('gateway_requests_total', { format: 'chat', status: '400' }), 1);
    assert.equal(value('gateway_time_to_first_token_seconds_count', sandbox), 2);
    assert.ok((value('gateway_tokens_total', { ...sandbox, kind: 'prompt' }) ?? 0) > 0);
    assert.ok((value('gateway_tokens_total', { ...sandbox, kind: 'completion' }) ?? 0) > 0);
    assert.equal(value('gateway_open_streams', {}), 0);
    assert.ok(value('gateway_event_loop_lag_seconds', { percentile: '99' }) !== undefined);
    assert.equal(value('gateway_build_info', { node_version: process.versions.node }), 1);
    assert.equal(value('gateway_requests_in_flight', {}), 0);
    assert.ok((value('process_cpu_seconds_total', {}) ?? 0) > 0);
    assert.ok((value('nodejs_heap_size_used_bytes', {}) ?? 0) > 0);
  });

  test('count a stream as open while it runs, and not when it was refused', async () => {
    const open = async (): Promise<number | undefined> =>
      parsePrometheus(await (await fetch(`${gateway.url}/metrics`)).text()).find(
        ({ name }) => name === 'gateway_open_streams',
      )?.value;
    const response = await gateway.post('/chat/completions', {
      model: 'sandbox/long',
      stream: true,
      messages: [{ role: 'user', content: 'tokens=40 every=10' }],
    });
    assert.equal(await open(), 1);
    await response.text();
    assert.equal(await open(), 0);
    const refused = await gateway.post('/chat/completions', { model: 'sandbox/error-500', stream: true, messages });
    await refused.text();
    assert.equal(await open(), 0);
  });

  // @spec operation-3
  test('have no labels from names that callers invent', async () => {
    for (let index = 0; index < 5; index++)
      await (await gateway.post('/chat/completions', { model: `made-up/${index}`, messages })).text();
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    assert.ok(!text.includes('made-up'));
  });
});

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId?: string; readonly responses?: object }>>>
  >;
}

suite('openapi', () => {
  // @spec workspace-16
  test('is OpenAPI 3.1 in which every reference resolves', async () => {
    const response = await fetch(`${gateway.url}/openapi.json`);
    assert.equal(response.status, 200);
    const document = (await response.json()) as OpenApi;
    assert.match(document.openapi, /^3\.1\./);
    assert.equal(document.info.version, '1.0.0');
    for (const [path, method] of [
      ['/chat/completions', 'post'],
      ['/messages', 'post'],
      ['/keys', 'get'],
      ['/keys', 'post'],
      ['/generation', 'get'],
    ] as const)
      assert.ok(document.paths[path]?.[method] !== undefined, `${method} ${path}`);
    const references = findReferences(document);
    assert.ok(references.length > 0);
    for (const reference of references) assert.ok(resolves(document, reference), reference);
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
    );
    assert.equal(new Set(ids).size, ids.length, 'operation ids are unique');
    assert.ok(Object.keys(document.paths['/chat/completions']?.['post']?.responses ?? {}).includes('429'));
  });
});

suite('an unknown path', () => {
  const ask = async (method: string, path: string): Promise<{ status: number; body: Record<string, unknown> }> => {
    const response = await fetch(gateway.url + path, { method });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  for (const [method, path] of [
    ['GET', '/v1/messages'],
    ['DELETE', '/v1/messages?beta=true'],
    ['GET', '/v1/messages/count_tokens'],
    ['POST', '/v1/messages/batches'],
    ['GET', '/api/v1/messages/batches/1/results'],
    ['PROPFIND', '/v1/messages'],
    ['GET', '/v1/messages/%zz'],
  ] as const)
    // @spec error-26
    test(`is an error in the shape of the messages format: ${method} ${path}`, async () => {
      const { status, body } = await ask(method, path);
      assert.equal(body['type'], 'error', JSON.stringify(body));
      const error = body['error'] as Record<string, unknown>;
      assert.equal(error['code'], status);
      assert.ok(status === 404 || status === 400, String(status));
      assert.equal(error['type'], status === 404 ? 'not_found_error' : 'invalid_request_error');
      assert.equal(body['request_id'], null);
    });

  for (const [method, path] of [
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/nothing'],
    ['POST', '/v1/datasets/rankings'],
    ['GET', '/v1/messagesx'],
    ['GET', '/v1/responses'],
    ['GET', '/v1/scim/Users'],
    ['GET', '/v1/nothing?of=/messages'],
  ] as const)
    test(`is an error in the shape of chat: ${method} ${path}`, async () => {
      const { status, body } = await ask(method, path);
      assert.equal(status, 404);
      assert.equal(body['type'], undefined);
      assert.deepEqual((body['error'] as { code: number; message: string }).code, 404);
      assert.match((body['error'] as { message: string }).message, new RegExp(`^There is no ${method} [^ ]+\\.$`));
    });

  for (const path of ['/chat/completions', '/messages', '/nothing', '/v1chat/completions'])
    // @spec error-26
    test(`says where the API is: POST ${path}`, async () => {
      const { status, body } = await ask('POST', path);
      assert.equal(status, 404);
      const { message } = body['error'] as { message: string };
      assert.equal(message, `There is no POST ${path}. The API is at /v1.`);
    });

  for (const [method, path, setting] of [
    ['GET', '/v1/scim/groups', 'scim: { enabled: true }'],
    ['GET', '/scim/v2/Users', 'scim: { enabled: true }'],
    ['GET', '/v1/containers', 'containers.runtime'],
    ['GET', '/v1/interns', 'interns: { enabled: true }'],
    ['POST', '/mcp', 'mcp_server: { enabled: true }'],
  ] as const)
    // @spec error-25
    test(`says how to turn on what is off: ${method} ${path}`, async () => {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${path === '/mcp' || path === '/v1/interns' ? API_KEY : MANAGEMENT_KEY}` },
        ...(method === 'POST' && { body: '{}' }),
      });
      const text = await response.text();
      assert.equal(response.status, 404, text);
      assert.ok(text.includes(JSON.stringify(setting).slice(1, -1)), text);
    });
});

suite('GET /generation', () => {
  // @spec generation-1, generation-2
  test('returns tokens, cost and attempts to the key of the request and to a management key', async () => {
    const answer = await gateway.post('/messages', { model: 'sandbox/echo', max_tokens: 50, messages });
    const { id, usage } = (await answer.json()) as {
      id: string;
      usage: { input_tokens: number; output_tokens: number };
    };
    for (const key of [API_KEY, MANAGEMENT_KEY]) {
      const response = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      assert.equal(response.status, 200);
      const { data } = (await response.json()) as { data: Record<string, unknown> };
      assert.deepEqual(
        [data['id'], data['model'], data['provider_name'], data['streamed'], data['finish_reason']],
        [id, 'sandbox/echo', 'Sandbox', false, 'stop'],
      );
      assert.equal(data['native_tokens_prompt'], usage.input_tokens);
      assert.equal(data['native_tokens_completion'], usage.output_tokens);
      assert.equal(data['total_cost'], 0);
      const [attempt] = data['provider_responses'] as { provider_name: string; status: number }[];
      assert.deepEqual([attempt?.provider_name, attempt?.status], ['Sandbox', 200]);
    }
  });

  // @spec generation-1
  test('is 401 without a key, 400 without an id and 404 for an unknown one', async () => {
    const get = (query: string, key?: string): Promise<Response> =>
      fetch(`${gateway.baseUrl}/generation${query}`, {
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      });
    assert.equal((await get('?id=gen-x')).status, 401);
    assert.equal((await get('', API_KEY)).status, 400);
    const unknown = await get('?id=gen-nothing', API_KEY);
    assert.equal(unknown.status, 404);
    assert.equal(((await unknown.json()) as { error: { code: number } }).error.code, 404);
  });
});

function matches({ labels }: Sample, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

function findReferences(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([member, value]) =>
    member === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  );
}

/** JSON Pointer of RFC 6901 in a fragment. */
function resolves(document: object, reference: string): boolean {
  if (!reference.startsWith('#/')) return false;
  let node: unknown = document;
  for (const segment of reference.slice(2).split('/')) {
    const member = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, member)) return false;
    node = (node as Record<string, unknown>)[member];
  }
  return true;
}
