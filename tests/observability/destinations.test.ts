import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { textOf } from '../support/reported.ts';

const SIGNING_SECRET = `whsec_${Buffer.from('a signing secret of 24 by').toString('base64')}`;
const CANARY = 'canary-7f3a-header-secret-0123456789';
const CONFIG = 'observability: { private_destinations: true, service_name: shop, environment: staging }';

interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: JsonObject;
}

interface Receiver {
  readonly url: string;
  readonly arrived: Arrived[];
  /** What the next calls get. */
  answer: (response: ServerResponse, count: number) => void;
  close(): Promise<void>;
}

async function startReceiver(): Promise<Receiver> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
      const { method = '', url = '', headers } = request;
      arrived.push({ method, path: url, headers, text, body: parseJsonObject(text) ?? {} });
      receiver.answer(response, arrived.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    answer: (response) => response.writeHead(200).end(),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return receiver;
}

const at = (value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined =>
  path.reduce<Json | undefined>((node, step) => {
    if (typeof step === 'number') return Array.isArray(node) ? (node[step] as Json) : undefined;
    return isJsonObject(node) ? node[step] : undefined;
  }, value);

/** Every span of a body, with its attributes as plain members. */
function spansOf({ body }: Arrived): readonly { readonly span: JsonObject; readonly attributes: JsonObject }[] {
  const spans = at(body, 'resourceSpans', 0, 'scopeSpans', 0, 'spans');
  return (Array.isArray(spans) ? spans : []).map((span: JsonObject) => {
    const list = span['attributes'] as readonly JsonObject[];
    const entries = list.map(({ key, value }) => [textOf(key), Object.values(value as JsonObject)[0]] as const);
    return { span, attributes: Object.fromEntries(entries) };
  });
}

suite('destinations', () => {
  let gateway: RunningGateway;
  let receiver: Receiver;
  before(async () => {
    gateway = await startGateway({ yaml: CONFIG });
    receiver = await startReceiver();
    const switched = await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
    assert.equal(switched.status, 200);
  });
  after(async () => {
    await gateway.close();
    await receiver.close();
  });
  afterEach(async () => {
    receiver.answer = (response) => response.writeHead(200).end();
    const { body } = await call('GET', '/observability/destinations?limit=100');
    for (const one of body['data'] as readonly JsonObject[])
      await call('DELETE', `/observability/destinations/${textOf(one['id'])}`);
    receiver.arrived.length = 0;
  });

  const call = async (method: string, path: string, body?: object, key = MANAGEMENT_KEY) => {
    const answer = await fetch(gateway.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: parseJsonObject(await answer.text()) ?? {} };
  };
  const create = (further: object = {}) =>
    call('POST', '/observability/destinations', {
      type: 'webhook',
      name: 'Hook',
      config: { url: `${receiver.url}/hook` },
      ...further,
    });
  async function made(further: object = {}): Promise<JsonObject> {
    const { status, body } = await create(further);
    assert.equal(status, 201, JSON.stringify(body));
    receiver.arrived.length = 0;
    return body['data'] as JsonObject;
  }
  async function generate(further: object = {}): Promise<string> {
    const messages = [{ role: 'user', content: 'Tell me something.' }];
    const answer = await gateway.post('/chat/completions', { model: 'sandbox/echo', messages, ...further });
    await answer.text();
    return answer.headers.get('x-generation-id') ?? '';
  }
  async function nextArrived(count = 1): Promise<readonly Arrived[]> {
    for (let attempt = 0; receiver.arrived.length < count; attempt++) {
      assert.ok(attempt < 400, `${receiver.arrived.length} of ${count} calls arrived`);
      await sleep(25);
    }
    return receiver.arrived;
  }
  async function exported(outcome: string): Promise<number> {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const line = text
      .split('\n')
      .find((one) => one.includes(`destination_records_total{type="webhook",outcome="${outcome}"}`));
    return Number(line?.split(' ').at(-1) ?? 0);
  }

  // @spec destination-1, destination-7, request-21, destination-14
  test('receive a record as an OTLP span with the GenAI attributes and the trace of its request', async () => {
    await made({ broadcast_generation_cost: true, broadcast_generation_identity: true });
    const trace = {
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      parent_span_id: 'b7ad6b7169203331',
      trace_name: 'Shop',
      generation_name: 'Recommend',
      tenant: 'blue',
    };
    const id = await generate({ trace, session_id: 'session-9', user: 'ann@example.com', temperature: 0.5 });
    const [arrived] = await nextArrived();
    assert.ok(arrived !== undefined);
    const [{ span, attributes } = { span: {}, attributes: {} }] = spansOf(arrived);
    assert.equal(span['traceId'], trace.trace_id);
    assert.equal(span['parentSpanId'], trace.parent_span_id);
    assert.equal(span['name'], 'Recommend');
    assert.match(textOf(span['spanId']), /^[0-9a-f]{16}$/);
    assert.match(textOf(span['startTimeUnixNano']), /^\d{19}$/);
    assert.equal(attributes['gen_ai.operation.name'], 'chat');
    assert.equal(attributes['gen_ai.provider.name'], 'sandbox');
    assert.equal(attributes['gen_ai.request.model'], 'sandbox/echo');
    assert.equal(attributes['gen_ai.request.temperature'], 0.5);
    assert.equal(attributes['gen_ai.response.id'], id);
    assert.equal(attributes['session.id'], 'session-9');
    assert.equal(attributes['trace.name'], 'Shop');
    assert.equal(attributes['trace.metadata.tenant'], 'blue');
    assert.equal(attributes['gen_ai.usage.cost'], 0);
    assert.equal(attributes['gateway.app.url'], undefined, 'the destination does not include the request context');
    assert.match(textOf(attributes['user.id']), /^[0-9a-f]{64}$/);
    assert.ok(!arrived.text.includes('ann@example.com'), 'the end user stays hidden');
    assert.ok(!arrived.text.includes('Tell me something.'), 'nothing that was said is sent where it is not kept');
  });

  // @spec destination-26
  test('read which service, in which place, a record comes from', async () => {
    await made();
    await generate();
    const [arrived] = await nextArrived();
    const { resource, scopeSpans } = (at(arrived?.body, 'resourceSpans', 0) ?? {}) as JsonObject;
    const attributes = at(resource, 'attributes') as readonly JsonObject[];
    const named = Object.fromEntries(
      attributes.map(({ key, value }) => [textOf(key), textOf(at(value, 'stringValue'))]),
    );
    const { 'service.version': version = '', 'service.instance.id': instance = '', ...others } = named;
    assert.deepEqual(others, {
      'service.name': 'shop',
      'deployment.environment.name': 'staging',
      'gateway.region': 'local',
    });
    assert.match(version, /^\d+\.\d+/);
    assert.match(instance, /^[0-9a-f-]{36}$/);
    assert.deepEqual(at(scopeSpans, 0, 'scope'), { name: 'model-gateway', version });
  });

  // @spec destination-5
  test('receive content if the workspace stores it, and not in privacy mode', async () => {
    await call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true });
    await made();
    await generate();
    const [arrived] = await nextArrived();
    const attributes: JsonObject = spansOf(arrived as Arrived)[0]?.attributes ?? {};
    assert.match(textOf(attributes['gen_ai.input.messages']), /"role":"user".*Tell me something\./);
    assert.match(textOf(attributes['gen_ai.output.messages']), /"role":"assistant"/);
    const { body } = await call('GET', '/observability/destinations');
    const id = textOf(at(body, 'data', 0, 'id'));
    await call('PATCH', `/observability/destinations/${id}`, { privacy_mode: true });
    receiver.arrived.length = 0;
    await generate();
    assert.ok(!((await nextArrived())[0] as Arrived).text.includes('Tell me something.'));
    await call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false });
  });

  // @spec destination-8
  test('sign webhooks, so that the receiver can verify the sender', async () => {
    await made({ config: { url: `${receiver.url}/hook`, method: 'PUT', signing_secret: SIGNING_SECRET } });
    await generate();
    const [arrived] = await nextArrived();
    assert.ok(arrived !== undefined);
    assert.equal(arrived.method, 'PUT');
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = arrived.headers;
    assert.ok(Math.abs(Number(timestamp) * 1_000 - Date.now()) < 60_000);
    const key = Buffer.from(SIGNING_SECRET.slice('whsec_'.length), 'base64');
    const expected = createHmac('sha256', key)
      .update(`${String(id)}.${String(timestamp)}.${arrived.text}`)
      .digest('base64');
    assert.equal(signature, `v1,${expected}`);
  });

  test('send traces to the standard path of an OTLP collector', async () => {
    const { status } = await create({
      type: 'otel-collector',
      config: { endpoint: receiver.url, headers: { 'x-api-key': CANARY } },
    });
    assert.equal(status, 201);
    const [tested] = receiver.arrived;
    assert.deepEqual(
      [tested?.path, tested?.headers['x-test-connection'], tested?.headers['x-api-key'], tested?.body],
      ['/v1/traces', 'true', CANARY, { resourceSpans: [] }],
    );
  });

  test("send a generation's metrics to the standard path of a collector", async () => {
    const { status, body } = await create({ type: 'otel-metrics', config: { endpoint: receiver.url } });
    assert.equal(status, 201, JSON.stringify(body));
    await generate();
    const [tested, sent] = await nextArrived(2);
    assert.deepEqual([tested?.path, tested?.body], ['/v1/metrics', { resourceMetrics: [] }]);
    assert.equal(sent?.path, '/v1/metrics');
    for (const name of ['gen_ai.client.token.usage', 'gen_ai.client.operation.duration'])
      assert.ok(sent.text.includes(`"name":"${name}"`), `${name} is sent: ${sent.text}`);
  });

  test("reach a vendor's own addresses with its own keys, and name the member that fails the test", async () => {
    const config = { baseUrl: receiver.url, publicKey: 'pk-lf-1', secretKey: 'sk-lf-1234567890' };
    receiver.answer = (response) => response.writeHead(401).end();
    const refused = await create({ type: 'langfuse', config });
    assert.equal(refused.status, 400);
    assert.match(textOf(at(refused.body, 'error', 'message')), /config\.publicKey, config\.secretKey/);
    receiver.answer = (response) => response.writeHead(200).end('{}');
    receiver.arrived.length = 0;
    const created = await create({ type: 'langfuse', config });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.ok(!JSON.stringify(created.body).includes(config.secretKey));
    const id = await generate();
    const [tested, sent] = await nextArrived(2);
    assert.deepEqual([tested?.method, tested?.path], ['GET', '/api/public/projects']);
    assert.equal(sent?.path, '/api/public/otel/v1/traces');
    assert.equal(sent?.headers['authorization'], `Basic ${Buffer.from('pk-lf-1:sk-lf-1234567890').toString('base64')}`);
    assert.equal(spansOf(sent)[0]?.attributes['gen_ai.response.id'], id);
  });

  test('list their kinds with forms in which secrets are marked', async () => {
    const { status, body } = await call('GET', '/observability/destination-types');
    assert.equal(status, 200);
    const kinds = body['data'] as readonly JsonObject[];
    assert.equal(kinds.length, 18);
    const datadog = kinds.find(({ type }) => type === 'datadog');
    assert.equal(at(datadog, 'config_schema', 'properties', 'apiKey', 'writeOnly'), true);
    assert.deepEqual(at(datadog, 'config_schema', 'required'), ['apiKey', 'mlApp']);
  });

  // @spec destination-11
  test('mask and encrypt secrets, which survive a masked update', async () => {
    const headers = { authorization: CANARY, 'x-plain': 'short' };
    const destination = await made({ config: { url: `${receiver.url}/hook`, headers } });
    const id = textOf(destination['id']);
    const shown = await call('GET', `/observability/destinations/${id}`);
    assert.ok(!JSON.stringify(shown.body).includes(CANARY));
    const config = at(shown.body, 'data', 'config');
    const patched = await call('PATCH', `/observability/destinations/${id}`, { config, name: 'Renamed' });
    assert.equal(patched.status, 200, JSON.stringify(patched.body));
    await generate();
    const arrived = (await nextArrived(2)).at(-1);
    assert.equal(arrived?.headers['authorization'], CANARY);
    assert.equal(arrived?.headers['x-plain'], 'short');
    for (const file of ['gateway.db', 'gateway.db-wal']) {
      const bytes = await readFile(join(gateway.dataDir, file)).catch(() => Buffer.alloc(0));
      assert.ok(!bytes.includes(CANARY), `${file} does not hold it`);
    }
    const { body: audit } = await call('GET', '/audit?limit=100');
    assert.ok(!JSON.stringify(audit).includes(CANARY));
  });

  // @spec destination-11
  test('require every secret again for another origin, and send it no stored ones', async () => {
    const other = await startReceiver();
    try {
      const config = {
        url: `${receiver.url}/hook`,
        headers: { authorization: CANARY, 'x-short': 'abc' },
        signing_secret: SIGNING_SECRET,
      };
      const path = `/observability/destinations/${textOf(at((await create({ config })).body, 'data', 'id'))}`;
      const shown = at((await call('GET', path)).body, 'data', 'config');
      assert.ok(isJsonObject(shown));
      const patch = (change: object, further: object = {}) => call('PATCH', path, { config: change, ...further });
      const url = `${other.url}/hook`;
      const again = { headers: config.headers, signing_secret: SIGNING_SECRET };
      for (const change of [
        { url },
        { ...shown, url },
        { url, headers: config.headers },
        { url, signing_secret: SIGNING_SECRET },
        { url, ...again, headers: { ...config.headers, 'x-short': '...' } },
        { url: url.replace('http:', 'https:') },
      ])
        for (const skip of [true, false]) {
          const { status, body } = await patch(change, { skip_test: skip });
          assert.equal(status, 400, JSON.stringify(change));
          assert.match(textOf(at(body, 'error', 'message')), /another origin.*config\.(?:headers|signing_secret)/);
        }
      assert.equal(other.arrived.length, 0, 'not even the test call was made');
      assert.equal((await patch({ url: `${receiver.url}/elsewhere` })).status, 200, 'the same origin');
      const moved = await patch({ url, headers: { 'x-new': 'n' }, signing_secret: SIGNING_SECRET });
      assert.equal(moved.status, 200, JSON.stringify(moved.body));
      assert.deepEqual(
        [other.arrived[0]?.headers['authorization'], other.arrived[0]?.headers['x-new']],
        [undefined, 'n'],
      );
    } finally {
      await other.close();
    }
  });

  // @spec destination-10, destination-15
  test('retry failures, and tell of records that are refused', async () => {
    const id = textOf((await made())['id']);
    receiver.answer = (response, count) => response.writeHead(count === 1 ? 503 : 200).end();
    await generate();
    const [first, second] = await nextArrived(2);
    assert.equal(first?.text, second?.text);
    receiver.arrived.length = 0;
    receiver.answer = (response) => response.writeHead(422).end(`no such ${SIGNING_SECRET}`);
    const failed = await exported('failed');
    const refused = await generate();
    for (let attempt = 0; (await exported('failed')) === failed && attempt < 400; attempt++) await sleep(25);
    assert.equal(await exported('failed'), failed + 1);
    assert.equal(receiver.arrived.length, 1);
    const { body } = await call('GET', `/observability/destinations/${id}`);
    assert.equal(at(body, 'data', 'health', 'failed'), 1);
    assert.equal(at(body, 'data', 'health', 'recent_failures', 0, 'record_id'), refused);
    assert.equal(at(body, 'data', 'health', 'state'), 'ok');
  });

  // @spec destination-10, destination-15
  test('keep records while credentials are wrong, and send them when a change mends that', async () => {
    const id = textOf(
      (await made({ config: { url: `${receiver.url}/hook`, headers: { 'x-key': 'wrong-key' } } }))['id'],
    );
    receiver.answer = (response) =>
      response.writeHead(receiver.arrived.at(-1)?.headers['x-key'] === 'right-key' ? 200 : 401).end('no wrong-key');
    const generated = await generate();
    await nextArrived();
    const health = async () => at((await call('GET', `/observability/destinations/${id}`)).body, 'data', 'health');
    for (let attempt = 0; at(await health(), 'state') === 'ok' && attempt < 400; attempt++) await sleep(25);
    const failing = await health();
    assert.equal(at(failing, 'state'), 'failing');
    assert.equal(at(failing, 'pending'), 1);
    assert.equal(at(failing, 'last_error', 'message'), 'Status 401.', 'what a private address answers is not shown');
    const config = { headers: { 'x-key': 'right-key' } };
    assert.equal((await call('PATCH', `/observability/destinations/${id}`, { config })).status, 200);
    const arrived = (await nextArrived(3)).at(-1);
    assert.equal(spansOf(arrived as Arrived)[0]?.attributes['gen_ai.response.id'], generated);
  });

  // @spec destination-9
  test('delay no request when they never respond, and hold one call at a time', async () => {
    await made({ config: { url: `${receiver.url}/silent` } });
    let open = 0;
    let openMost = 0;
    receiver.answer = (response) => {
      if (receiver.arrived.at(-1)?.path !== '/silent') return;
      openMost = Math.max(openMost, ++open);
      response.once('close', () => open--);
    };
    for (let round = 0; round < 8; round++) await Promise.all(Array.from({ length: 50 }, () => generate()));
    await nextArrived();
    assert.equal(openMost, 1, 'one call at a time');
    assert.equal(spansOf(receiver.arrived[0] as Arrived).length <= 100, true);
  });

  // @spec destination-16, destination-17
  test('continue the trace of the headers of a request', async () => {
    await made();
    const headers = { traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`, tracestate: 'vendor=x' };
    const messages = [{ role: 'user', content: 'hi' }];
    await (await gateway.post('/chat/completions', { model: 'sandbox/echo', messages }, headers)).text();
    // Records of the test before may come first: they were stored after the destination was made.
    const found = () => receiver.arrived.flatMap(spansOf).find(({ span }) => span['traceId'] === 'a1'.repeat(16))?.span;
    while (found() === undefined) await nextArrived(receiver.arrived.length + 1);
    const span = found();
    assert.deepEqual(
      [span?.['parentSpanId'], span?.['traceState'], span?.['flags']],
      ['b2'.repeat(8), 'vendor=x', 0x301],
    );
  });

  // @spec destination-3, destination-4
  test('select records by filters, keys and shares', async () => {
    const rules = (operator: string, value: string) => ({
      groups: [{ rules: [{ field: 'model', operator, value }] }],
    });
    await made({
      name: 'echo',
      filter_rules: rules('equals', 'sandbox/echo'),
      config: { url: `${receiver.url}/echo` },
    });
    await made({
      name: 'other',
      filter_rules: rules('not_equals', 'sandbox/echo'),
      config: { url: `${receiver.url}/other` },
    });
    await made({ name: 'few', sampling_rate: 0.0001, config: { url: `${receiver.url}/few` } });
    await generate();
    while (!receiver.arrived.some(({ path }) => path === '/echo')) await sleep(25);
    // For the others to arrive, if they were sent.
    await sleep(1_300);
    const paths = receiver.arrived.map(({ path }) => path);
    assert.deepEqual(
      ['/echo', '/other', '/few'].map((path) => paths.includes(path)),
      [true, false, false],
    );
  });

  // @spec destination-4
  test('select records by a pattern', async () => {
    const rules = (value: string) => ({ groups: [{ rules: [{ field: 'model', operator: 'regex', value }] }] });
    await made({ name: 'box', filter_rules: rules('^sand[bB]ox/'), config: { url: `${receiver.url}/box` } });
    const { id } = await made({ name: 'none', filter_rules: rules('^box'), config: { url: `${receiver.url}/none` } });
    /** The id of a generation that arrived: one for which looking took too long on a busy machine does not. */
    async function untilReported(path: string): Promise<string> {
      for (let attempt = 0; attempt < 20; attempt++) {
        const generation = await generate();
        const isReported = (arrived: Arrived) => arrived.path === path && arrived.text.includes(generation);
        for (let wait = 0; wait < 100; wait++) {
          if (receiver.arrived.some(isReported)) return generation;
          await sleep(25);
        }
      }
      return assert.fail(`nothing arrived at ${path}`);
    }
    const first = await untilReported('/box');
    const changed = await call('PATCH', `/observability/destinations/${textOf(id)}`, { filter_rules: rules('echo$') });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    await untilReported('/none');
    assert.ok(!receiver.arrived.some(({ path, text }) => path === '/none' && text.includes(first)));
    const unsafe = await call('PATCH', `/observability/destinations/${textOf(id)}`, { filter_rules: rules('(a+)+$') });
    assert.equal(unsafe.status, 400);
  });

  // @spec destination-6
  test('receive nothing while the workspace disables them', async () => {
    await made({ config: { url: `${receiver.url}/quiet` } });
    assert.equal(
      (await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: false })).status,
      200,
    );
    await generate();
    await sleep(1_300);
    // What waited for a destination of an earlier test may still be on its way.
    assert.ok(!receiver.arrived.some(({ path }) => path === '/quiet'));
    await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
  });

  // @spec destination-1, destination-4, destination-12
  test('reject invalid settings by name', async () => {
    const refused: readonly (readonly [object, number, RegExp])[] = [
      [{ type: 'datadog' }, 400, /config\.(?:apiKey|mlApp): is required/],
      [{ type: 'nothing' }, 400, /must be one of arize, braintrust, .*, webhook/],
      [{ config: { url: 'ftp://x.example' } }, 400, /config\.url/],
      [{ config: { url: receiver.url, colour: 'red' } }, 400, /config\.colour: is not a known field/],
      [{ config: {} }, 400, /config\.url: is required/],
      [{ config: { url: receiver.url, method: 'GET' } }, 400, /config\.method: must be one of "POST", "PUT"/],
      [{ config: { url: receiver.url, headers: { Host: 'x' } } }, 400, /header that the gateway itself sets/],
      [{ api_key_hashes: [] }, 400, /api_key_hashes/],
      [{ api_key_hashes: ['f'.repeat(64)] }, 400, /api_key_hashes\[0\]: is not a key/],
      [{ sampling_rate: 0 }, 400, /sampling_rate/],
      ...(
        [
          ['(a+)+$', /rules\[0\]\.value: must not nest quantifiers \(invalid_regex_pattern\)/],
          ['(?<=a)b', /rules\[0\]\.value: must not look around/],
          ['(', /rules\[0\]\.value: is not a regular expression/],
          ['', /rules\[0\]\.value: must not be empty/],
          [5, /rules\[0\]\.value: must be a text for "regex"/],
        ] as const
      ).map(([value, words]) => {
        const groups = [{ rules: [{ field: 'model', operator: 'regex', value }] }];
        return [{ filter_rules: { groups } }, 400, words] as const;
      }),
      [
        { filter_rules: { groups: [{ rules: [{ field: 'total_cost', operator: 'gt', value: 'much' }] }] } },
        400,
        /filter_rules\.groups\[0\]\.rules\[0\]\.value: must be a number for "gt"/,
      ],
      [
        { filter_rules: { groups: [{ rules: [{ field: 'model', operator: 'equals' }] }] } },
        400,
        /rules\[0\]\.value: is required for "equals"/,
      ],
      [{ colour: 'red' }, 400, /colour/],
      [{ workspace_id: '11111111-1111-4111-8111-111111111111' }, 400, /workspace/],
      [{ config: { url: 'http://127.0.0.1:1/' } }, 400, /the test call failed/],
    ];
    for (const [further, status, words] of refused) {
      const answer = await create(further);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.match(textOf(at(answer.body, 'error', 'message')), words);
    }
    receiver.answer = (response) => response.writeHead(500).end();
    assert.equal((await create()).status, 400);
    assert.equal((await create({ skip_test: true })).status, 201);
    assert.equal((await create({ skip_test: true })).status, 409, 'a name is free once');
    assert.equal((await call('POST', '/observability/destinations', {}, API_KEY)).status, 403);
  });

  // @spec destination-2
  test('assign a name and a place once under concurrent requests', async () => {
    const statusesOf = (answers: readonly { readonly status: number }[]) =>
      answers.map(({ status }) => status).toSorted((one, other) => one - other);
    const requested = { skip_test: true };
    const same = await Promise.all(Array.from({ length: 5 }, () => create({ ...requested, name: 'Same' })));
    assert.deepEqual(statusesOf(same), [201, 409, 409, 409, 409]);
    const others = Array.from({ length: 6 }, (_, index) => create({ ...requested, name: `Other ${index}` }));
    const statuses = statusesOf(await Promise.all(others));
    assert.deepEqual(statuses, [201, 201, 201, 201, 400, 400], 'five of a type');
    const { body } = await call('GET', '/observability/destinations?limit=100');
    const ids = (body['data'] as readonly JsonObject[]).map(({ id }) => textOf(id));
    const rename = (id: string) => call('PATCH', `/observability/destinations/${id}`, { name: 'Wanted' });
    const renamed = await Promise.all(ids.map(rename));
    assert.deepEqual(statusesOf(renamed), [200, 409, 409, 409, 409]);
  });

  // @spec workspace-6
  test('are turned off with their workspace', async () => {
    const workspace = await call('POST', '/workspaces', { name: 'Team', slug: 'leaving' });
    const { id } = await made({ workspace_id: textOf(at(workspace.body, 'data', 'id')) });
    const { id: other } = await made({ name: 'Other' });
    assert.equal((await call('DELETE', '/workspaces/leaving')).status, 200);
    const isOn = async (destination: Json | undefined) =>
      at((await call('GET', `/observability/destinations/${textOf(destination)}`)).body, 'data', 'enabled');
    assert.deepEqual([await isOn(id), await isOn(other)], [false, true]);
  });

  // @spec destination-2
  test('are at most five of a type in a workspace, and 404 for unknown ids', async () => {
    for (let number = 1; number <= 5; number++) await made({ name: `Hook ${number}` });
    assert.equal((await create({ name: 'Hook 6' })).status, 400);
    for (const id of ['11111111-1111-4111-8111-111111111111', 'no-uuid']) {
      assert.equal((await call('GET', `/observability/destinations/${id}`)).status, 404);
      assert.equal((await call('PATCH', `/observability/destinations/${id}`, {})).status, 404);
      assert.equal((await call('DELETE', `/observability/destinations/${id}`)).status, 404);
      assert.equal((await call('POST', `/observability/destinations/${id}/test`)).status, 404);
    }
  });
});

test('can be listed, repaired and deleted without their secret', async () => {
  const gateway = await startGateway({ yaml: CONFIG });
  const receiver = await startReceiver();
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${gateway.baseUrl}/observability/destinations${path}`, {
      method,
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: parseJsonObject(await answer.text()) ?? {} };
  };
  try {
    const config = { url: receiver.url };
    const made = await call('POST', '', { type: 'webhook', name: 'Hook', config });
    const id = textOf(at(made.body, 'data', 'id'));
    await rm(join(gateway.dataDir, 'secret'));
    const listed = await call('GET', '');
    assert.deepEqual([listed.status, at(listed.body, 'data', 0, 'config')], [200, {}]);
    assert.equal((await call('POST', `/${id}/test`)).status, 400);
    assert.equal((await call('PATCH', `/${id}`, { config })).status, 200);
    assert.equal((await call('POST', `/${id}/test`)).status, 200);
    assert.equal((await call('DELETE', `/${id}`)).status, 200);
  } finally {
    await gateway.close();
    await receiver.close();
  }
});

// @spec destination-13
test('receive users only if the operator allows it', async () => {
  const gateway = await startGateway();
  try {
    const urls = [
      'https://127.0.0.1/',
      'https://10.0.0.1/',
      'http://example.com/',
      'https://[::1]/',
      'https://localhost/',
    ];
    for (const url of urls) {
      const answer = await fetch(`${gateway.baseUrl}/observability/destinations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
        body: JSON.stringify({ type: 'webhook', name: 'Hook', config: { url } }),
      });
      assert.equal(answer.status, 400, url);
      assert.match(await answer.text(), /public Internet|https|no address/, url);
    }
  } finally {
    await gateway.close();
  }
});

// @spec destination-13
test('never reach addresses of cloud credentials, even with private destinations', async (t) => {
  const gateway = await startGateway({ yaml: CONFIG });
  t.after(() => gateway.close());
  for (const host of [
    '169.254.169.254',
    '[fd00:ec2::23]',
    '[fd20:ce::254]',
    '[fd00:c1::a9fe:a9fe]',
    '[fd00:42::42]',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::a9fe:a9fe]',
  ]) {
    const answer = await fetch(`${gateway.baseUrl}/observability/destinations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      body: JSON.stringify({
        type: 'webhook',
        name: 'Hook',
        config: { url: `http://${host}/latest` },
        skip_test: true,
      }),
    });
    assert.equal(answer.status, 400, host);
    assert.match(await answer.text(), /not on the public Internet/, host);
  }
});
