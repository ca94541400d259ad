import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { suite, test } from 'node:test';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { CallAnswer, OpenDestination, OutboundCall, Verdict } from '../../src/telemetry/destinations/contract.ts';
import { waitAfter } from '../../src/telemetry/destinations/delivery/delivery-state.ts';
import { encodeSpansAsJson } from '../../src/telemetry/destinations/otlp/encode-json.ts';
import { encodeSpansAsProtobuf } from '../../src/telemetry/destinations/otlp/encode-protobuf.ts';
import { Double, Structured, type SpanExport } from '../../src/telemetry/destinations/otlp/span.ts';
import { spansOf } from '../../src/telemetry/destinations/otlp/generation-spans.ts';
import { DESTINATION_TYPES } from '../../src/telemetry/destinations/registry.ts';
import { textOf } from '../support/reported.ts';
import { decodeProtobuf } from '../support/http/decode-protobuf.ts';
import { DESTINATION_CONFIGS, PROJECT_ID as ID, SERVICE } from '../support/http/destination-configs.ts';
import { sampleExported } from '../support/http/exported.ts';

const NOW_MS = 1_795_247_900_000;
const RESOURCE = {
  'service.name': 'shop',
  'service.version': '1.2.3',
  'service.instance.id': SERVICE.instanceId,
  'deployment.environment.name': 'staging',
  'gateway.region': 'eu',
};
function open(type: string, changes: JsonObject = {}): OpenDestination {
  const found = DESTINATION_TYPES.find((one) => one.type === type);
  assert.ok(found !== undefined, type);
  return found.open({ ...DESTINATION_CONFIGS[type], ...changes }, SERVICE);
}

async function firstCall(type: string, batch = [sampleExported()], changes: JsonObject = {}): Promise<OutboundCall> {
  const [call] = await open(type, changes).calls(batch, NOW_MS);
  assert.ok(call !== undefined);
  return call;
}

const answer = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): CallAnswer => ({
  status,
  text,
  headers,
});
const bodyOf = ({ body = '' }: OutboundCall): string => Buffer.from(body).toString('utf8');
const membersOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : assert.fail('no object'));
const jsonOf = (call: OutboundCall): JsonObject => parseJsonObject(bodyOf(call)) ?? assert.fail('no JSON');

/** The spans of an export request with plain attributes, whatever its encoding is, as a strict receiver reads them. */
function spansIn(call: OutboundCall): { readonly spans: readonly JsonObject[]; readonly resource: JsonObject } {
  const isProtobuf = call.headers['content-type'] === 'application/x-protobuf';
  if (!isProtobuf) assert.equal(call.headers['content-type'], 'application/json');
  const body = isProtobuf ? decodeProtobuf(Buffer.from(call.body ?? '')) : jsonOf(call);
  const [group] = listOf(body['resourceSpans']);
  const spans = listOf(group?.['scopeSpans']).flatMap((scope) => listOf(scope['spans']));
  const ids = spans.map((span) => textOf(span['spanId']));
  assert.equal(new Set(ids).size, ids.length, 'ids of spans are unique');
  for (const span of spans) {
    assert.match(textOf(span['traceId']), /^[0-9a-f]{32}$/);
    assert.match(textOf(span['spanId']), /^[0-9a-f]{16}$/);
    assert.ok(Number(span['endTimeUnixNano']) >= Number(span['startTimeUnixNano']));
    const parent = span['parentSpanId'];
    if (parent !== undefined)
      assert.ok(
        ids.includes(textOf(parent)) || parent === 'b7ad6b7169203331',
        'a parent is sent, or the caller has it',
      );
  }
  const resource = isJsonObject(group?.['resource']) ? group['resource'] : {};
  return {
    spans: spans.map((span) => ({ ...span, attributes: plain(span['attributes']) })),
    resource: plain(resource['attributes']),
  };
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function plain(attributes: Json | undefined): JsonObject {
  return Object.fromEntries(
    listOf(attributes).map(({ key, value }) => [
      textOf(key),
      isJsonObject(value) ? Object.values(value)[0] : undefined,
    ]),
  );
}

/** The attributes of the span of the generation. */
async function attributesAt(type: string, changes: JsonObject = {}): Promise<JsonObject> {
  const { spans } = spansIn(await firstCall(type, [sampleExported()], changes));
  const own = spans.find(({ name }) => name === 'Recommend') ?? assert.fail('no span of the generation');
  return membersOf(own['attributes']);
}

// @spec destination-1
test('has every kind, each of which takes its own configuration and no unknown member', () => {
  assert.deepEqual(DESTINATION_TYPES.map(({ type }) => type).toSorted(), Object.keys(DESTINATION_CONFIGS).toSorted());
  for (const { type, schema } of DESTINATION_TYPES) {
    assert.equal(schema.safeParse(DESTINATION_CONFIGS[type]).success, true, type);
    assert.equal(schema.safeParse({ ...DESTINATION_CONFIGS[type], surprise: 1 }).success, false, type);
  }
});

// @spec destination-21
test('waits for no longer than a quarter of an hour, whatever an address of any kind says', async () => {
  const hints = ['retry-after', 'x-ratelimit-reset', 'x-sentry-rate-limits', 'x-retry-after'];
  for (const { type } of DESTINATION_TYPES)
    for (const text of ['31536000', '1e300', '-1e300', 'Infinity', '99999999999999999999:all:key', 'NaN', '']) {
      const headers = Object.fromEntries(hints.map((name) => [name, text]));
      const verdict = open(type).judge(await firstCall(type), answer(429, '', headers));
      assert.equal(verdict.kind, 'retry', type);
      const afterMs = 'afterMs' in verdict ? verdict.afterMs : undefined;
      const waitMs = waitAfter(1, { status: 429, message: '', isFault: false, afterMs }, 0);
      assert.ok(waitMs >= 1_000 && waitMs <= 900_000, `${type}, ${text}: ${waitMs}`);
    }
});

interface OtlpVendor {
  readonly type: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly encoding: 'json' | 'x-protobuf';
  readonly resource?: JsonObject;
  /** The address and status of what proves a connection, where it is no empty export. */
  readonly test?: string;
}

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

const OTLP_VENDORS: readonly OtlpVendor[] = [
  { type: 'otel-collector', url: 'https://otel.example/v1/traces', headers: {}, encoding: 'json' },
  {
    type: 'langfuse',
    url: 'https://us.cloud.langfuse.com/api/public/otel/v1/traces',
    headers: { authorization: basic('pk-lf-1:sk-lf-1'), 'x-langfuse-ingestion-version': '4' },
    encoding: 'json',
    test: 'https://us.cloud.langfuse.com/api/public/projects',
  },
  {
    type: 'grafana',
    url: 'https://otlp-gateway-prod-eu-west-0.grafana.net/otlp/v1/traces',
    headers: { authorization: basic('42:glc_key') },
    encoding: 'x-protobuf',
  },
  {
    type: 'langsmith',
    url: 'https://api.smith.langchain.com/otel/v1/traces',
    headers: { 'x-api-key': 'key', 'langsmith-project': 'shop', 'x-tenant-id': ID },
    encoding: 'x-protobuf',
  },
  {
    type: 'braintrust',
    url: 'https://api.braintrust.dev/otel/v1/traces',
    headers: { authorization: 'Bearer key', 'x-bt-parent': `project_id:${ID}` },
    encoding: 'x-protobuf',
    test: `https://api.braintrust.dev/v1/project/${ID}`,
  },
  {
    type: 'arize',
    url: 'https://otlp.arize.com/v1/traces',
    headers: { 'arize-space-id': 'space', 'arize-api-key': 'key', space_id: 'space', api_key: 'key' },
    encoding: 'x-protobuf',
    resource: { 'openinference.project.name': 'shop', model_id: 'shop' },
  },
  {
    type: 'opik',
    url: 'https://www.comet.com/opik/api/v1/private/otel/v1/traces',
    headers: { authorization: 'key', 'comet-workspace': 'team', projectname: 'shop' },
    encoding: 'x-protobuf',
  },
  {
    type: 'newrelic',
    url: 'https://otlp.eu01.nr-data.net/v1/traces',
    headers: { 'api-key': 'key' },
    encoding: 'x-protobuf',
    resource: { 'instrumentation.provider': 'model-gateway' },
  },
  {
    type: 'sentry',
    url: 'https://o1.ingest.us.sentry.io/api/77/integration/otlp/v1/traces',
    headers: { 'x-sentry-auth': 'sentry sentry_key=abc123' },
    encoding: 'x-protobuf',
  },
  {
    type: 'weave',
    url: 'https://trace.wandb.ai/otel/v1/traces',
    headers: { 'wandb-api-key': 'key', project_id: 'team/shop' },
    encoding: 'x-protobuf',
    resource: { 'wandb.entity': 'team', 'wandb.project': 'shop' },
  },
  {
    type: 'ramp',
    url: 'https://api.ramp.com/developer/v1/ai-usage/openrouter/v1/traces',
    headers: { authorization: 'Bearer key' },
    encoding: 'json',
  },
];

suite('vendors that take OTLP', () => {
  for (const { type, url, headers, encoding, resource = {}, test: testUrl } of OTLP_VENDORS)
    test(`${type}: a strict receiver takes its address, headers, encoding and spans`, async () => {
      const destination = open(type);
      const call = await firstCall(type);
      assert.deepEqual(
        [call.url, call.method, call.headers],
        [url, 'POST', { ...headers, 'content-type': `application/${encoding}` }],
      );
      assert.deepEqual(call.ids, ['gen-1']);
      const read = spansIn(call);
      assert.deepEqual(read.resource, { ...RESOURCE, ...resource });
      assert.equal((await firstCall(type)).body?.toString(), call.body?.toString(), 'a repeat is the same');
      const [step] = await destination.test(NOW_MS);
      assert.equal(step?.call.url, testUrl ?? url);
      assert.equal(step?.judge(answer(200, '{}')), undefined);
      for (const status of [401, 403]) assert.match(step?.judge(answer(status)) ?? '', /config\./);
      assert.notEqual(step?.judge(answer(200, '<html>', { 'content-type': 'text/html' })), undefined, 'a sign-in page');
      assert.equal(
        step?.judge(answer(400)) === undefined,
        type === 'otel-collector',
        'a bad request passes for no vendor',
      );
      const kinds = [200, 401, 413, 429, 500, 503].map((status) => destination.judge(call, answer(status)).kind);
      assert.deepEqual(kinds, ['taken', 'fault', 'rejected', 'retry', 'rejected', 'retry']);
      const page = destination.judge(call, answer(200, '<html>', { 'content-type': 'text/html; charset=utf-8' }));
      assert.equal(page.kind, type === 'otel-collector' ? 'taken' : 'fault');
    });

  test('langfuse: kinds of tokens add up to the total, and the conventions name none beside', async () => {
    const attributes = await attributesAt('langfuse');
    const usage = JSON.parse(textOf(attributes['langfuse.observation.usage_details'])) as Record<string, number>;
    assert.deepEqual(usage, {
      input: 200,
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 0,
      output: 50,
      output_reasoning_tokens: 40,
      total: 1_290,
    });
    assert.deepEqual(JSON.parse(textOf(attributes['langfuse.observation.cost_details'])), {
      input: 0.001025,
      output: 0.0009,
      total: 0.001925,
    });
    assert.deepEqual(
      Object.keys(attributes).filter((key) => key.startsWith('gen_ai.usage.')),
      [],
    );
    assert.equal(attributes['langfuse.observation.completion_start_time'], '"2026-11-21T07:57:36.801Z"');
    assert.deepEqual(
      ['trace.name', 'session.id', 'trace.metadata.tenant', 'observation.type'].map(
        (key) => attributes[`langfuse.${key}`],
      ),
      ['Shop', 'cart-17', 'blue', 'generation'],
    );
    const unpriced = sampleExported();
    const { cost: _cost, tokens: _tokens, ...rest } = unpriced;
    const { spans } = spansIn(await firstCall('langfuse', [rest]));
    const bare = membersOf(spans[0]?.['attributes']);
    assert.deepEqual(
      [bare['langfuse.observation.usage_details'], bare['langfuse.observation.cost_details']],
      [undefined, undefined],
    );
  });

  test('langsmith: a session is metadata, never a project', async () => {
    const attributes = await attributesAt('langsmith');
    assert.deepEqual(
      Object.keys(attributes).filter((key) => key.includes('trace.session')),
      [],
    );
    assert.equal(attributes['langsmith.metadata.session_id'], 'cart-17');
    const usage = JSON.parse(textOf(attributes['langsmith.usage_metadata'])) as JsonObject;
    assert.deepEqual([usage['input_tokens'], usage['total_tokens'], usage['total_cost']], [1_200, 1_290, 0.001925]);
    assert.deepEqual(JSON.parse(textOf(attributes['gen_ai.completion'])), {
      messages: [{ role: 'assistant', content: 'Rain.', reasoning: 'It says rain.' }],
    });
    assert.equal(attributes['gen_ai.input.messages'], undefined, 'never both');
  });

  test('braintrust: content and figures stand in its own attributes, and events are left out', async () => {
    const { spans } = spansIn(await firstCall('braintrust'));
    assert.equal(spans[0]?.['events'], undefined);
    const attributes = await attributesAt('braintrust');
    assert.deepEqual(JSON.parse(textOf(attributes['braintrust.span_attributes'])), { type: 'llm' });
    const metrics = JSON.parse(textOf(attributes['braintrust.metrics'])) as JsonObject;
    assert.deepEqual(
      [metrics['prompt_tokens'], metrics['prompt_cached_tokens'], metrics['time_to_first_token']],
      [1_200, 1_000, 0.6],
    );
    assert.equal((JSON.parse(textOf(attributes['braintrust.input_json'])) as unknown[]).length, 4);
  });

  test('arize: messages are flat, in the names of OpenInference', async () => {
    const attributes = await attributesAt('arize');
    assert.equal(attributes['openinference.span.kind'], 'LLM');
    assert.equal(attributes['llm.input_messages.1.message.content'], 'Weather? "start_ns":"1"\n[image]');
    assert.equal(
      attributes['llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments'],
      '{"city":"Bonn"}',
    );
    assert.equal(attributes['llm.input_messages.3.message.tool_call_id'], 'c1');
    assert.deepEqual(
      Object.keys(attributes).filter((key) => key.startsWith('gen_ai.')),
      [],
    );
    const messages = Array.from({ length: 300 }, (_, index) => ({ role: 'user', content: `m${index}` }));
    const content = { input: { messages }, output: { completion: 'x', reasoning: null }, error: null };
    const { spans } = spansIn(await firstCall('arize', [sampleExported({ content })]));
    const many = membersOf(spans[0]?.['attributes']);
    assert.deepEqual(
      [many['llm.input_messages.1.message.content'], many['llm.input_messages.2.message.content']],
      ['m1', 'm174'],
    );
    assert.equal(many['llm.input_messages.128.message.content'], undefined);
  });

  test('opik: money is no kind of tokens', async () => {
    const attributes = await attributesAt('opik');
    assert.equal(attributes['gen_ai.usage.cost'], undefined);
    assert.equal(attributes['gateway.cost.total'], 0.001925);
    assert.equal(attributes['gen_ai.system'], 'alpha');
  });

  test('newrelic: no text is longer than it keeps, and of a conversation the end that fits is there, as whole JSON', async () => {
    const content = {
      input: {
        messages: Array.from('abcdefgh', (letter) => ({ role: 'user', content: letter.repeat(1_200) })),
      },
      output: { completion: '"'.repeat(9_000), reasoning: 'short' },
      error: null,
    };
    const { spans } = spansIn(
      await firstCall('newrelic', [sampleExported({ content, trace: { trace_name: 't'.repeat(5_000) } })]),
    );
    for (const { attributes } of spans)
      for (const value of Object.values(membersOf(attributes)))
        assert.ok(typeof value !== 'string' || value.length <= 4_095);
    const own = spans.find(({ attributes }) => membersOf(attributes)['gen_ai.operation.name'] !== undefined)?.[
      'attributes'
    ] as JsonObject;
    const messages = JSON.parse(textOf(own['gen_ai.input.messages'])) as readonly { parts: { content: string }[] }[];
    assert.deepEqual(
      messages.map(({ parts }) => parts[0]?.content[0]),
      ['f', 'g', 'h'],
    );
    const [output] = JSON.parse(textOf(own['gen_ai.output.messages'])) as typeof messages;
    const [reasoning = '', text = ''] = output?.parts.map((part) => part.content) ?? [];
    assert.ok(reasoning === 'short' && /^"{500,}$/.test(text), text);
    assert.equal(own['gateway.content.cut'], true);
  });

  test('sentry: refuses an address of another project or host, and waits as its own header says', () => {
    const type = DESTINATION_TYPES.find((one) => one.type === 'sentry');
    const fits = (otlpEndpoint: string) =>
      type?.schema.safeParse({ ...DESTINATION_CONFIGS['sentry'], otlpEndpoint }).success;
    assert.equal(fits('https://o1.ingest.us.sentry.io/api/78/integration/otlp'), false);
    assert.equal(fits('https://evil.example/api/77/integration/otlp'), false);
    const verdict = open('sentry').judge(
      { url: '', method: 'POST', headers: {}, ids: [] },
      answer(429, '', { 'x-sentry-rate-limits': '60:transaction:key' }),
    );
    assert.deepEqual([verdict.kind, 'afterMs' in verdict && verdict.afterMs], ['retry', 60_000]);
  });
});

// @spec destination-29
test('webhook: reads what a receiver refuses of a call, and takes its 500 for a fault of the receiver', async () => {
  const destination = open('webhook');
  const call = await firstCall('webhook');
  const judged = (status: number, text = '') => destination.judge(call, answer(status, text));
  assert.deepEqual(judged(200, '{"partialSuccess":{"rejectedSpans":1,"errorMessage":"no"}}'), {
    kind: 'taken',
    refusedCount: 1,
    warning: 'Status 200: no',
  });
  for (const text of ['', 'ok', '{}', '[]', '{"partialSuccess":null}', '{"partialSuccess":{"rejectedSpans":"many"}}'])
    assert.deepEqual(judged(200, text), { kind: 'taken' }, text);
  assert.deepEqual(
    [500, 503, 410, 413].map((status) => judged(status).kind),
    ['retry', 'retry', 'fault', 'rejected'],
  );
});

// @spec destination-30
test('every kind sends its own header once, whatever an operator sets under its name', async () => {
  for (const { type } of DESTINATION_TYPES) {
    const usual = await firstCall(type);
    const own = Object.keys(usual.headers).filter((name) => name !== 'content-type');
    const headers = Object.fromEntries(own.map((name) => [name.toUpperCase(), 'of the operator']));
    const call = await firstCall(type, undefined, { headers: { ...headers, 'X-Own': 'kept' } });
    const names = Object.keys(call.headers).map((name) => name.toLowerCase());
    assert.equal(new Set(names).size, names.length, `${type}: ${names.join(', ')}`);
    const read = new Headers(call.headers);
    assert.equal(read.get('x-own'), 'kept', type);
    if (type === 's3') continue;
    for (const name of own) assert.equal(read.get(name), usual.headers[name], `${type}: ${name}`);
  }
});

// @spec destination-30
test('every kind keeps the path of an own server, in its calls and in its test', async () => {
  const bases: Readonly<Record<string, string>> = {
    braintrust: 'baseUrl',
    datadog: 'url',
    langfuse: 'baseUrl',
    posthog: 'endpoint',
  };
  for (const [type, member] of Object.entries(bases))
    for (const base of ['https://own.example/tools/x', 'https://own.example/tools/x/']) {
      const destination = open(type, { [member]: base });
      const [call] = await destination.calls([sampleExported()], NOW_MS);
      const steps = await destination.test(NOW_MS);
      for (const url of [call?.url, ...steps.map((step) => step.call.url)])
        assert.match(url ?? '', /^https:\/\/own\.example\/tools\/x\/[a-z]/, type);
    }
  for (const [type, member] of [...Object.entries(bases), ['s3', 'endpoint'] as const])
    assert.throws(() => open(type, { [member]: 'https://own.example/x?key=1' }), /no query/, type);
  const [step] = await open('langfuse', { baseUrl: 'https://own.example/x/api/public/otel' }).test(NOW_MS);
  assert.equal(step?.call.url, 'https://own.example/x/api/public/projects');
});

// @spec destination-1
test('what the first clients of these kinds may leave out has the default that they know', async () => {
  const found = (type: string) => DESTINATION_TYPES.find((one) => one.type === type) ?? assert.fail(type);
  const [langsmith] = await found('langsmith').open({ apiKey: 'key' }, SERVICE).calls([sampleExported()], NOW_MS);
  assert.equal(langsmith?.headers['langsmith-project'], 'main');
  const grafana = found('grafana').open({ apiKey: 'key', instanceId: '4' }, SERVICE);
  assert.equal(grafana.url, 'https://otlp-gateway-prod-us-west-0.grafana.net/otlp/v1/traces');
  assert.throws(() => open('grafana', { baseUrl: 'https://tempo-1.grafana.net/tempo' }), /queries/);
});

// @spec destination-17
test('an id that no trace may have is replaced by one that stands for its text', () => {
  const trace = { trace_id: '0'.repeat(32), parent_span_id: '0'.repeat(16) };
  const [span] = spansOf(sampleExported({ trace }), 'generation');
  assert.match(span?.traceId ?? '', /[1-9a-f]/);
  assert.match(span?.parentSpanId ?? '', /[1-9a-f]/);
});

test('a number beyond 64 bits is a double in both encodings', async () => {
  const sent = sampleExported({ trace: { huge: 1e300, exact: 2 ** 60 } });
  for (const encoding of ['json', 'protobuf']) {
    const { spans } = spansIn(await firstCall('otel-collector', [sent], { encoding, spans: 'generation' }));
    const attributes = membersOf(spans[0]?.['attributes']);
    assert.deepEqual(
      [attributes['trace.metadata.huge'], Number(attributes['trace.metadata.exact'])],
      [1e300, 2 ** 60],
      encoding,
    );
  }
});

// @spec destination-19
test('an attempt that another followed is an event of the record, where there is no tree', async () => {
  const { spans } = spansIn(await firstCall('langfuse'));
  const startMs = sampleExported().startMs;
  const [retry, first] = (spans[0]?.['events'] ?? []) as readonly JsonObject[];
  assert.deepEqual([retry?.['name'], first?.['name']], ['gateway.retry', 'gateway.first_token']);
  assert.equal(retry?.['timeUnixNano'], `${startMs + 300}000000`);
  const text = JSON.stringify(retry);
  for (const member of [
    '"gateway.attempt","value":{"intValue":"1"}',
    '"gateway.provider","value":{"stringValue":"beta"}',
    '"http.response.status_code","value":{"intValue":"503"}',
    '"error.type","value":{"stringValue":"503"}',
  ])
    assert.ok(text.includes(member), `${member} in ${text}`);
});

// @spec destination-19
test('a tree has the request and its attempts, and usage and cost stand once in it', async () => {
  const { spans } = spansIn(await firstCall('otel-collector'));
  assert.deepEqual(
    spans.map(({ name }) => name),
    ['Shop', 'Recommend', 'attempt 1 beta', 'attempt 2 alpha'],
  );
  const [request, own, failed] = spans;
  assert.equal(request?.['parentSpanId'], 'b7ad6b7169203331');
  assert.deepEqual([own?.['parentSpanId'], failed?.['parentSpanId']], [request?.['spanId'], own?.['spanId']]);
  assert.equal(membersOf(failed?.['attributes'])['error.type'], '503');
  const counted = spans.filter(({ attributes }) => membersOf(attributes)['gen_ai.usage.input_tokens'] !== undefined);
  assert.deepEqual(
    counted.map(({ name }) => name),
    ['Recommend'],
  );
  assert.deepEqual(
    [
      membersOf(own?.['attributes'])['gen_ai.usage.input_tokens'],
      membersOf(own?.['attributes'])['gen_ai.request.temperature'],
    ],
    ['1200', 1],
  );
  const nested = sampleExported({ id: 'gen-2', trace: {} });
  const alone = sampleExported({ trace: {} });
  const both = spansIn(await firstCall('otel-collector', [alone, nested])).spans;
  assert.equal(new Set(both.map(({ traceId }) => traceId)).size, 1, 'generations of one request share a trace');
});

// @spec destination-19
test('streams that another endpoint continued, and filters, are events without any text', async () => {
  const startMs = sampleExported().startMs;
  const moments = [
    { kind: 'filter', atMs: startMs, name: 'content-filter', action: 'flagged', guardrailId: 'g-1' },
    { kind: 'rescue', atMs: startMs + 900, method: 'prefill', provider: 'gamma' },
  ] as const;
  for (const type of ['langfuse', 'otel-collector']) {
    const { spans } = spansIn(await firstCall(type, [sampleExported({ moments })]));
    const own = spans.find(({ name }) => name === 'Recommend');
    const events = listOf(own?.['events']).map(({ name, attributes }) => [name, plain(attributes)]);
    assert.deepEqual(events, [
      [
        'gateway.filter',
        { 'gateway.filter': 'content-filter', 'gateway.filter.action': 'flagged', 'gateway.guardrail.id': 'g-1' },
      ],
      ['gateway.retry', events[1]?.[1]],
      ['gateway.first_token', {}],
      ['gateway.rescue', { 'gateway.rescue.method': 'prefill', 'gateway.provider': 'gamma' }],
    ]);
  }
});

// @spec destination-19
test('how a route was chosen is a span of the tree, before the first attempt', async () => {
  const { context, startMs } = sampleExported();
  assert.ok(context !== undefined);
  const route = { ordering: 'price', considered: 3, left: 2, resting: 0, reasons: ['context_length=1'] };
  const attempts = context.attempts.map((attempt, at) => ({ ...attempt, startMs: 40 + at * 500 }));
  const { spans } = spansIn(
    await firstCall('otel-collector', [sampleExported({ context: { ...context, attempts, route } })]),
  );
  const [request, found, , failed, second] = spans;
  assert.deepEqual([found?.['name'], found?.['parentSpanId']], ['route', request?.['spanId']]);
  assert.equal(found?.['endTimeUnixNano'], `${startMs + 40}000000`);
  assert.equal(membersOf(found?.['attributes'])['gateway.route.candidates'], '2');
  assert.deepEqual(
    [failed?.['startTimeUnixNano'], failed?.['endTimeUnixNano'], second?.['startTimeUnixNano']],
    [`${startMs + 40}000000`, `${startMs + 340}000000`, `${startMs + 540}000000`],
  );
});

// @spec destination-27
test('content stands in attributes of the span, or as a structure in one event of it', async () => {
  for (const encoding of ['json', 'protobuf']) {
    const changes = { content_as: 'event', encoding, spans: 'generation' };
    const batch = [sampleExported({ apiType: 'messages' })];
    const { spans } = spansIn(await firstCall('otel-collector', batch, changes));
    const [own] = spans;
    assert.deepEqual(
      Object.keys(membersOf(own?.['attributes'])).filter((key) => /messages|system/.test(key)),
      [],
    );
    const event = listOf(own?.['events']).find(({ name }) => name === 'gen_ai.client.inference.operation.details');
    const members = plain(event?.['attributes']);
    const [instruction] = listOf(membersOf(members['gen_ai.system_instructions'])['values']);
    assert.deepEqual(instruction, {
      kvlistValue: {
        values: [
          { key: 'type', value: { stringValue: 'text' } },
          { key: 'content', value: { stringValue: 'Be brief.' } },
        ],
      },
    });
    assert.match(JSON.stringify(members['gen_ai.output.messages']), /"stringValue":"Rain\."/);
    assert.equal(members['gen_ai.response.id'], 'gen-1');
  }
  const plainAttributes = await attributesAt('otel-collector');
  assert.match(textOf(plainAttributes['gen_ai.input.messages']), /"role":"system"/);
  const apart = spansIn(await firstCall('otel-collector', [sampleExported({ apiType: 'messages' })])).spans;
  const own = membersOf(apart.find(({ name }) => name === 'Recommend')?.['attributes']);
  assert.equal(own['gen_ai.system_instructions'], '[{"type":"text","content":"Be brief."}]');
  assert.doesNotMatch(textOf(own['gen_ai.input.messages']), /"role":"system"/);
});

// @spec destination-24
test('a tool is one at each vendor, below its generation, and counts no usage', async () => {
  const startMs = 1_795_247_857_000;
  const step = {
    kind: 'tool',
    key: '0 call_0',
    name: 'search',
    startMs,
    endMs: startMs + 500,
    hasFailed: true,
  } as const;
  const batch = [sampleExported({ steps: [step] })];
  const kinds: Readonly<Record<string, readonly [string, string]>> = {
    langfuse: ['langfuse.observation.type', 'tool'],
    langsmith: ['langsmith.span.kind', 'tool'],
    braintrust: ['braintrust.span_attributes', '{"type":"tool"}'],
    arize: ['openinference.span.kind', 'TOOL'],
    opik: ['gen_ai.operation.name', 'execute_tool'],
    weave: ['gen_ai.operation.name', 'execute_tool'],
    newrelic: ['gen_ai.operation.name', 'execute_tool'],
    sentry: ['gen_ai.operation.name', 'execute_tool'],
    grafana: ['gen_ai.operation.name', 'execute_tool'],
  };
  for (const [type, [key, value]] of Object.entries(kinds)) {
    const { spans } = spansIn(await firstCall(type, batch));
    const tool = spans.find(({ name }) => name === 'execute_tool search') ?? assert.fail(`${type} has no tool`);
    const own = spans.find(({ name }) => name === 'Recommend');
    const attributes = membersOf(tool['attributes']);
    assert.deepEqual([tool['parentSpanId'], attributes[key]], [own?.['spanId'], value], type);
    const counting = Object.keys(attributes).filter((name) => /usage|token|cost|metrics/.test(name));
    assert.deepEqual(counting, [], type);
  }
  const datadog = jsonOf(await firstCall('datadog', batch));
  const [own, tool] = listOf(membersOf(membersOf(datadog['data'])['attributes'])['spans']);
  assert.deepEqual(
    [tool?.['parent_id'], membersOf(tool?.['meta'])['kind'], tool?.['status'], tool?.['metrics']],
    [own?.['span_id'], 'tool', 'error', {}],
  );
  const events = listOf(jsonOf(await firstCall('posthog', batch))['batch']);
  assert.deepEqual(
    events.map(({ event }) => event),
    ['$ai_generation', '$ai_span'],
  );
  const rows = bodyOf(await firstCall('clickhouse', batch))
    .trim()
    .split('\n')
    .map((line) => parseJsonObject(line) ?? {});
  const row = rows.find((one) => one['SpanName'] === 'execute_tool search');
  assert.deepEqual([row?.['Operation'], row?.['InputTokens'], row?.['Cost']], ['execute_tool', null, null]);
});

test('both encodings say the same, of negative numbers and every type of value, too', () => {
  const batch: SpanExport = {
    resource: { 'service.name': 'x' },
    scope: { name: 's', version: '1' },
    spans: [
      {
        role: 'generation',
        traceId: 'ab'.repeat(16),
        traceState: 'a=b',
        spanId: 'cd'.repeat(8),
        parentSpanId: 'ef'.repeat(8),
        name: 'naïve \u{1F511}',
        kind: 3,
        startMs: 1_795_247_856_201,
        endMs: 1_795_247_858_601,
        attributes: {
          text: 'ä',
          empty: '',
          yes: true,
          no: false,
          zero: 0,
          minus: -7,
          most: Number.MAX_SAFE_INTEGER,
          half: new Double(0.5),
          whole: new Double(2),
          list: ['a', 'b'],
          tree: new Structured([{ role: 'user', n: 1, half: 0.5, yes: true, none: null, parts: [{ text: '' }] }]),
        },
        events: [{ name: 'e', atMs: 1_795_247_856_801, attributes: { n: 1 } }],
        links: [{ traceId: '11'.repeat(16), spanId: '22'.repeat(8) }],
        status: { code: 2, message: 'bad' },
        flags: 0x301,
      },
    ],
  };
  assert.deepEqual(decodeProtobuf(encodeSpansAsProtobuf(batch)), parseJsonObject(encodeSpansAsJson(batch)));
});

suite('datadog', () => {
  test('has the documented envelope, with nanoseconds as exact digits and no parent that it never saw', async () => {
    const call = await firstCall('datadog');
    assert.equal(call.url, 'https://api.us5.datadoghq.com/api/intake/llm-obs/v1/trace/spans');
    assert.equal(call.headers['dd-api-key'], 'key');
    assert.ok(bodyOf(call).includes('"start_ns":1795247856201000000,'), bodyOf(call));
    const attributes = (jsonOf(call)['data'] as JsonObject)['attributes'] as JsonObject;
    assert.deepEqual([attributes['ml_app'], attributes['session_id']], ['shop', 'cart-17']);
    const [span] = listOf(attributes['spans']);
    assert.deepEqual([span?.['parent_id'], span?.['duration'], span?.['status']], ['undefined', 2_400_000_000, 'ok']);
    assert.ok((Array.isArray(span?.['tags']) ? span['tags'] : []).includes('caller_parent_id:b7ad6b7169203331'));
    const meta = membersOf(span?.['meta']);
    assert.equal(meta['kind'], 'llm');
    assert.ok(
      JSON.stringify(meta).includes('Weather? \\\\\\"start_ns\\\\\\":\\\\\\"1\\\\\\"') ||
        bodyOf(call).includes('\\"start_ns\\":\\"1\\"'),
      'a text that looks like the member stays a text',
    );
    const metrics = membersOf(span?.['metrics']);
    assert.deepEqual(
      [metrics['input_tokens'], metrics['total_tokens'], metrics['time_to_first_token']],
      [1_200, 1_290, 0.6],
    );
  });

  test('changes nothing that a model calls a tool with', async () => {
    const content = {
      input: { messages: [{ role: 'user', content: 'x' }] },
      output: {
        completion: null,
        reasoning: null,
        tool_calls: [{ id: 'c', name: 'trace', arguments: '{"start_ns":"007"}' }],
      },
      error: null,
    };
    const text = bodyOf(await firstCall('datadog', [sampleExported({ content })]));
    assert.ok(text.includes('{"start_ns":"007"}'), text);
    assert.match(text, /"start_ns":\d{19},/);
    assert.notEqual(parseJsonObject(text), undefined);
  });

  test('a call has the spans of one session, and waits as the header says', async () => {
    const batch = [
      sampleExported(),
      sampleExported({ id: 'gen-2', sessionId: 'other' }),
      sampleExported({ id: 'gen-3' }),
    ];
    const destination = open('datadog');
    const calls = await destination.calls(batch, NOW_MS);
    assert.deepEqual(
      calls.map(({ ids }) => ids),
      [['gen-1', 'gen-3'], ['gen-2']],
    );
    const [call] = calls;
    assert.ok(call !== undefined);
    assert.deepEqual(
      [202, 403, 413].map((status) => destination.judge(call, answer(status)).kind),
      ['taken', 'fault', 'rejected'],
    );
    assert.deepEqual(destination.judge(call, answer(429, '', { 'x-ratelimit-reset': '7' })), {
      kind: 'retry',
      message: 'Status 429.',
      afterMs: 7_000,
    });
    const [step] = await destination.test(NOW_MS);
    assert.equal(step?.call.url, 'https://api.us5.datadoghq.com/api/v1/validate');
    assert.match(step?.judge(answer(403)) ?? '', /config\.apiKey/);
  });
});

suite('posthog', () => {
  test('sends events with stable ids, in which no caller forges a property', async () => {
    const call = await firstCall('posthog');
    assert.equal(call.url, 'https://us.i.posthog.com/i/v0/ai/batch/');
    const body = jsonOf(call);
    assert.equal(body['api_key'], 'phc_key');
    const [event] = listOf(body['batch']);
    assert.match(textOf(event?.['uuid']), /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const properties = membersOf(event?.['properties']);
    assert.deepEqual(
      [
        '$ai_model',
        '$ai_trace_id',
        '$ai_session_id',
        '$ai_input_tokens',
        '$ai_cache_reporting_exclusive',
        '$ai_latency',
        '$ai_total_cost_usd',
        'tenant',
      ].map((key) => properties[key]),
      ['openai/gpt-5.1', '0af7651916cd43dd8448eb211c80319c', 'cart-17', 1_200, false, 2.4, 0.001925, 'blue'],
    );
    assert.equal(listOf(jsonOf(await firstCall('posthog'))['batch'])[0]?.['uuid'], event?.['uuid']);
  });

  test('takes the older way where the newer one is not there, and believes no 200 that keeps nothing', async () => {
    const destination = open('posthog');
    const call = await firstCall('posthog');
    const next: Verdict = destination.judge(call, answer(404));
    assert.ok(next.kind === 'next');
    assert.equal(next.call.url, 'https://us.i.posthog.com/batch/');
    assert.equal(destination.judge(next.call, answer(404)).kind, 'fault');
    assert.equal(destination.judge(call, answer(200, '{"status":1}')).kind, 'taken');
    assert.equal(destination.judge(call, answer(200, '{"status":1,"quota_limited":["events"]}')).kind, 'fault');
  });
});

suite('s3', () => {
  const AWS = { AWS_ACCESS_KEY_ID: 'MACHINE', AWS_SECRET_ACCESS_KEY: 'machine' };

  /** As the service does it: nothing is taken from the signer. */
  function signatureOf({ method, url, headers, body = '' }: OutboundCall, secret: string): string {
    const { host, pathname } = new URL(url);
    const [, scope = '', names = ''] =
      /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '') ?? [];
    const all: Readonly<Record<string, string>> = { ...headers, host };
    const payload = createHash('sha256').update(body).digest('hex');
    assert.equal(headers['x-amz-content-sha256'], payload, 'the hash of the body is sent');
    const signed = names
      .split(';')
      .map((name) => `${name}:${(all[name] ?? '').trim()}\n`)
      .join('');
    const canonical = [method, pathname, '', signed, names, payload].join('\n');
    const text = [
      'AWS4-HMAC-SHA256',
      headers['x-amz-date'],
      scope,
      createHash('sha256').update(canonical).digest('hex'),
    ].join('\n');
    const key = scope
      .split('/')
      .reduce((last: string | Buffer, part) => createHmac('sha256', last).update(part).digest(), `AWS4${secret}`);
    return createHmac('sha256', key).update(text).digest('hex');
  }

  test('signs each object so that the service finds the same signature, with the keys of the configuration alone', async (t) => {
    for (const [name, value] of Object.entries(AWS)) process.env[name] = value;
    t.after(() => Object.keys(AWS).forEach((name) => delete process.env[name]));
    for (const changes of [
      {},
      { prefix: 'a b+c%/ü(1)', pathTemplate: '{prefix}/{year}/{month}/{day}/{apiKeyName}' },
      { endpoint: 'https://minio.example:9000/', sessionToken: 'token' },
      { bucketName: 'with.dots' },
      { compression: true },
    ]) {
      const call = await firstCall('s3', [sampleExported()], changes);
      const [, signature = ''] = /Signature=([0-9a-f]+)/.exec(call.headers['authorization'] ?? '') ?? [];
      assert.equal(signature, signatureOf(call, 'secret'), call.url);
      assert.match(call.headers['authorization'] ?? '', /Credential=AKID\//);
    }
  });

  test('names objects by trace, time and records, so that a repeat overwrites its own and no other', async () => {
    const url = async (changes: JsonObject) => (await firstCall('s3', [sampleExported()], changes)).url;
    const hash = createHash('sha256').update('gen-1').digest('hex').slice(0, 16);
    const name = `0af7651916cd43dd8448eb211c80319c-1795247856201-${hash}.json`;
    const [first, other] = [sampleExported(), sampleExported({ id: 'gen-2' })];
    const urls = await Promise.all(
      [[first], [other], [first, other], [other, first]].map(async (batch) => (await firstCall('s3', batch)).url),
    );
    assert.equal(new Set(urls.slice(0, 3)).size, 3, 'batches of one trace and moment are objects of their own');
    assert.equal(urls[2], urls[3]);
    assert.equal(await url({}), `https://bucket.s3.eu-central-1.amazonaws.com/service-traces/2026-11-21/${name}`);
    assert.equal(
      await url({ endpoint: 'https://minio.example:9000', pathTemplate: '{apiKeyName}/{year}' }),
      `https://minio.example:9000/bucket/Shop_key___1/2026/${name}`,
    );
    assert.equal(
      await url({ compression: true }),
      `https://bucket.s3.eu-central-1.amazonaws.com/service-traces/2026-11-21/${name}.gz`,
    );
    const two = await open('s3').calls(
      [sampleExported(), sampleExported({ id: 'gen-2', requestId: 'gen-2', trace: {} })],
      NOW_MS,
    );
    assert.deepEqual(
      two.map(({ ids }) => ids),
      [['gen-1'], ['gen-2']],
    );
    const type = DESTINATION_TYPES.find((one) => one.type === 's3');
    for (const pathTemplate of ['../x', '/x', 'a//b', '{prefix}/{secret}', 'a\u0000b'])
      assert.equal(type?.schema.safeParse({ ...DESTINATION_CONFIGS['s3'], pathTemplate }).success, false, pathTemplate);
  });

  test('tells faults by the code in the answer', async () => {
    const destination = open('s3');
    const call = await firstCall('s3');
    const judge = (status: number, code: string, headers = {}) =>
      destination.judge(call, answer(status, `<Error><Code>${code}</Code></Error>`, headers));
    assert.equal(judge(503, 'SlowDown').kind, 'retry');
    assert.equal(judge(400, 'RequestTimeout').kind, 'retry');
    assert.equal(judge(403, 'SignatureDoesNotMatch').kind, 'fault');
    assert.equal(judge(400, 'ExpiredToken').kind, 'fault');
    assert.deepEqual(judge(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-1' }), {
      kind: 'fault',
      message: 'config.region: the bucket is in another region: eu-west-1',
    });
    assert.equal(judge(400, 'EntityTooLarge').kind, 'rejected');
    assert.equal(destination.judge(call, answer(200)).kind, 'taken');
  });
});

suite('clickhouse', () => {
  test('inserts one line of JSON a span, under a token that repeats have, too', async () => {
    const call = await firstCall('clickhouse');
    const url = new URL(call.url);
    assert.deepEqual(
      [url.origin, url.searchParams.get('database'), url.searchParams.get('query')],
      ['https://ch.example:8443', 'db', 'INSERT INTO `SERVICE_TRACES` FORMAT JSONEachRow'],
    );
    assert.match(url.searchParams.get('insert_deduplication_token') ?? '', /^[0-9a-f]{64}$/);
    assert.equal((await firstCall('clickhouse')).url, call.url);
    const rows = bodyOf(call)
      .trimEnd()
      .split('\n')
      .map((line) => parseJsonObject(line) ?? assert.fail('no JSON'));
    assert.equal(rows.length, 4);
    const own = rows.find(({ SpanName }) => SpanName === 'Recommend');
    assert.deepEqual(
      ['Timestamp', 'InputTokens', 'Cost', 'TimeToFirstTokenMs', 'SpanKind', 'UserId'].map((column) => own?.[column]),
      ['2026-11-21T07:57:36.201Z', 1_200, '0.001925000', 600, 'CLIENT', '7d49'.repeat(16)],
    );
    assert.equal(
      rows.reduce((sum, row) => sum + Number(row['InputTokens'] ?? 0), 0),
      1_200,
      'tokens stand in one row',
    );
    const type = DESTINATION_TYPES.find((one) => one.type === 'clickhouse');
    assert.equal(
      type?.schema.safeParse({ ...DESTINATION_CONFIGS['clickhouse'], table: 'a` FORMAT Null; --' }).success,
      false,
    );
  });

  test('believes no 200 with an exception, and tells exceptions apart', async () => {
    const destination = open('clickhouse');
    const call = await firstCall('clickhouse');
    const judge = (status: number, code: string) =>
      destination.judge(call, answer(status, '', { 'x-clickhouse-exception-code': code })).kind;
    assert.deepEqual(
      [judge(200, '60'), judge(403, '516'), judge(500, '252'), judge(500, '241'), judge(400, '27')],
      ['fault', 'fault', 'retry', 'retry', 'rejected'],
    );
    assert.equal(destination.judge(call, answer(200)).kind, 'taken');
    const [, describe] = await destination.test(NOW_MS);
    assert.match(
      describe?.judge(answer(200, 'Timestamp\tDateTime64(9)\nTraceId\tString\n')) ?? '',
      /lacks the columns SpanId/,
    );
  });
});

suite('snowflake', () => {
  test('merges rows by the id of their span, under an id that repeats have, too', async () => {
    const call = await firstCall('snowflake');
    const url = new URL(call.url);
    assert.equal(url.host, 'my-org-acc.snowflakecomputing.com');
    assert.match(url.searchParams.get('requestId') ?? '', /^[0-9a-f-]{36}$/);
    assert.equal((await firstCall('snowflake')).url, call.url);
    assert.equal(call.headers['x-snowflake-authorization-token-type'], 'PROGRAMMATIC_ACCESS_TOKEN');
    const body = jsonOf(call);
    assert.match(
      textOf(body['statement']),
      /^MERGE INTO "SNOWFLAKE_LEARNING_DB"\."PUBLIC"\."SERVICE_TRACES" t .*WHEN NOT MATCHED THEN INSERT/,
    );
    const binding = membersOf(body['bindings'])['1'] as JsonObject;
    assert.equal(binding['type'], 'TEXT');
    assert.equal((JSON.parse(textOf(binding['value'])) as unknown[]).length, 4);
    const type = DESTINATION_TYPES.find((one) => one.type === 'snowflake');
    assert.equal(
      type?.schema.safeParse({ ...DESTINATION_CONFIGS['snowflake'], table: 'x"; drop table y' }).success,
      false,
    );
  });

  test('another statement has another id: without its content a record is tried anew, and a test is each time', async () => {
    const idOf = (call?: OutboundCall) => new URL(call?.url ?? '').searchParams.get('requestId');
    const whole = idOf(await firstCall('snowflake'));
    const { content: _content, ...rest } = sampleExported();
    assert.equal(idOf(await firstCall('snowflake')), whole);
    assert.notEqual(idOf(await firstCall('snowflake', [{ ...rest, contentState: 'refused' }])), whole);
    const [first] = await open('snowflake').test(NOW_MS);
    const [second] = await open('snowflake').test(NOW_MS + 1);
    assert.notEqual(idOf(first?.call), idOf(second?.call));
  });

  test('asks for a statement that still runs, at the same account', async () => {
    const destination = open('snowflake');
    const call = await firstCall('snowflake');
    const running = destination.judge(call, answer(202, '{"statementHandle":"01b-2c"}'));
    assert.ok(running.kind === 'next');
    assert.deepEqual(
      [running.call.method, running.call.url],
      ['GET', 'https://my-org-acc.snowflakecomputing.com/api/v2/statements/01b-2c'],
    );
    assert.equal(destination.judge(call, answer(202, '{"statementHandle":"../../evil"}')).kind, 'retry');
    assert.equal(destination.judge(call, answer(200)).kind, 'taken');
    assert.equal(destination.judge(call, answer(422, '{"code":"002003"}')).kind, 'fault');
    assert.equal(destination.judge(call, answer(422, '{"code":"100038"}')).kind, 'rejected');
  });
});
