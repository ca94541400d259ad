import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { suite, test } from 'node:test';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../src/lib/json.ts';
import type { ExportedGeneration } from '../../src/telemetry/destinations/contract.ts';
import { includeParts, type IncludedParts } from '../../src/telemetry/destinations/exported.ts';
import { encodeSpansAsJson } from '../../src/telemetry/destinations/otlp/encode-json.ts';
import { encodeSpansAsProtobuf } from '../../src/telemetry/destinations/otlp/encode-protobuf.ts';
import { spansOf } from '../../src/telemetry/destinations/otlp/generation-spans.ts';
import { Double } from '../../src/telemetry/destinations/otlp/span.ts';
import { requireSecretsForNewOrigin } from '../../src/telemetry/destinations/require-secrets.ts';
import { DESTINATION_TYPES } from '../../src/telemetry/destinations/registry.ts';
import { decodeProtobuf } from '../support/http/decode-protobuf.ts';
import { DESTINATION_CONFIGS, SERVICE } from '../support/http/destination-configs.ts';
import { sampleExported } from '../support/http/exported.ts';
import { createRandom, readSeed, seedOf, type Random } from '../support/random.ts';

const NOW_MS = 1_795_247_900_000;
const MARKER = 'marker-8d1f-of-a-conversation';
const ALL: IncludedParts = { cost: true, identity: true, requestContext: true, content: true };

/** Everything that leaves for a destination of a kind, addresses and headers too. */
async function sentTo(type: string, generation: ExportedGeneration, changes: object = {}): Promise<string> {
  const found = DESTINATION_TYPES.find((one) => one.type === type) ?? assert.fail(type);
  const calls = await found.open({ ...DESTINATION_CONFIGS[type], ...changes }, SERVICE).calls([generation], NOW_MS);
  return calls
    .map(({ url, headers, body = '' }) => {
      const bytes = Buffer.from(body);
      const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
      return `${url} ${JSON.stringify(headers)} ${(isZipped ? gunzipSync(bytes) : bytes).toString('utf8')}`;
    })
    .join('\n');
}

/** A marker word in each place that holds words of a conversation. */
function marked(): ExportedGeneration {
  return sampleExported({
    error: { type: 'upstream', message: `The prompt "${MARKER}" is refused.` },
    content: {
      input: {
        messages: [
          { role: 'system', content: MARKER },
          { role: 'user', content: [{ type: 'text', text: MARKER }] },
          {
            role: 'assistant',
            content: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: `{"a":"${MARKER}"}` }],
          },
          {
            role: 'tool',
            content: [{ type: 'tool_result', tool_call_id: 'c1', content: [{ type: 'text', text: MARKER }] }],
          },
        ],
      },
      output: { completion: MARKER, reasoning: MARKER },
      error: { message: MARKER },
    },
    steps: [
      { kind: 'tool', key: '0 c1', name: 'look', callId: 'c1', startMs: NOW_MS, endMs: NOW_MS + 1, hasFailed: true },
    ],
  });
}

suite('destinations of every kind', () => {
  // @spec destination-5
  test('receive no word of a conversation in privacy mode', async () => {
    for (const { type } of DESTINATION_TYPES)
      for (const changes of [{}, ...(takesTrees(type) ? [{ spans: 'tree' }, { spans: 'generation' }] : [])]) {
        const sent = await sentTo(type, includeParts(marked(), { ...ALL, content: false }), changes);
        assert.ok(!sent.includes(MARKER), `${type} ${JSON.stringify(changes)}`);
      }
  });

  test('receive it otherwise, but for those that exist for metrics or money', async () => {
    for (const { type, isForSpending } of DESTINATION_TYPES) {
      if (isForSpending === true || type === 'otel-metrics') continue;
      assert.ok((await sentTo(type, includeParts(marked(), ALL))).includes(MARKER), type);
    }
  });

  test('receive each part that is turned on, and no other one, in every combination', async () => {
    const places: Readonly<Record<string, Readonly<Record<keyof IncludedParts, string>>>> = {
      'otel-collector': {
        cost: 'gen_ai.usage.cost',
        identity: 'gateway.api_key.hash',
        requestContext: 'gateway.strategy',
        content: 'gen_ai.input.messages',
      },
      datadog: { cost: 'cost_usd:', identity: 'key_name:', requestContext: 'no such part', content: '"output"' },
    };
    for (const [type, names] of Object.entries(places))
      for (let bits = 0; bits < 16; bits++) {
        const included: IncludedParts = {
          cost: (bits & 1) > 0,
          identity: (bits & 2) > 0,
          requestContext: (bits & 4) > 0,
          content: (bits & 8) > 0,
        };
        const sent = await sentTo(type, includeParts(marked(), included));
        for (const part of ['cost', 'identity', 'requestContext', 'content'] as const) {
          if (names[part] === 'no such part') continue;
          assert.equal(sent.includes(names[part]), included[part], `${type}: ${part} of ${JSON.stringify(included)}`);
        }
      }
  });
});

/** A change of each kind that leads to another origin. */
const MOVES: Readonly<Record<string, JsonObject>> = {
  arize: { baseUrl: 'https://other.example' },
  braintrust: { baseUrl: 'https://other.example' },
  clickhouse: { host: 'https://other.example:8443' },
  datadog: { url: 'https://other.example' },
  grafana: { baseUrl: 'https://other.example' },
  langfuse: { baseUrl: 'https://other.example' },
  langsmith: { endpoint: 'https://other.example' },
  opik: { baseUrl: 'https://other.example' },
  'otel-collector': { endpoint: 'https://other.example' },
  'otel-metrics': { endpoint: 'https://other.example' },
  posthog: { endpoint: 'https://other.example' },
  ramp: { baseUrl: 'https://other.example' },
  s3: { endpoint: 'https://other.example' },
  sentry: { otlpEndpoint: 'https://o2.ingest.us.sentry.io/api/77/integration/otlp' },
  snowflake: { account: 'other-acc' },
  weave: { baseUrl: 'https://other.example' },
  webhook: { url: 'https://other.example/x' },
};

// @spec destination-11
test('every kind takes its secrets again with an address of another origin, in full', () => {
  for (const type of DESTINATION_TYPES) {
    if (type.type === 'newrelic') continue;
    const known: JsonObject = { ...DESTINATION_CONFIGS[type.type], headers: { 'x-own': 'stored-header-value' } };
    const move = MOVES[type.type] ?? assert.fail(type.type);
    const config = { ...known, ...move };
    const secrets = Object.fromEntries(type.secrets.flatMap((name) => (name in known ? [[name, known[name]]] : [])));
    const change = (sent: JsonObject): void =>
      requireSecretsForNewOrigin({ type, known, sent, after: type.open(config, SERVICE), service: SERVICE });
    assert.throws(() => change(move), /another origin/, type.type);
    for (const name of Object.keys(secrets)) {
      const { [name]: _left, ...others } = secrets;
      assert.throws(() => change({ ...move, ...others }), new RegExp(`config\\.${name}`), type.type);
    }
    change({ ...move, ...secrets });
    requireSecretsForNewOrigin({ type, known, sent: {}, after: type.open(known, SERVICE), service: SERVICE });
  }
});

// @spec destination-11
test('hosts of one vendor are one origin: regions of newrelic, regions and buckets of s3', () => {
  const change = (name: string, before: JsonObject, after: JsonObject): void => {
    const type = DESTINATION_TYPES.find((one) => one.type === name) ?? assert.fail(name);
    const known = { ...DESTINATION_CONFIGS[name], ...before };
    const opened = type.open({ ...known, ...after }, SERVICE);
    requireSecretsForNewOrigin({ type, known, sent: after, after: opened, service: SERVICE });
  };
  change('newrelic', { region: 'eu' }, { region: 'us' });
  change('s3', {}, { region: 'us-west-2', bucketName: 'other.bucket' });
  const endpoint = 'https://minio.example';
  assert.throws(() => change('s3', {}, { endpoint }), /another origin/);
  assert.throws(() => change('s3', { endpoint }, { endpoint: 'https://other.example' }), /another origin/);
  change('s3', { endpoint }, { bucketName: 'other' });
});

// The columns that the page tells operators to make are those that are sent.
test('the tables of the documentation have every column that is sent, and no other one', async () => {
  const page = await readFile(new URL('../../docs/destinations.md', import.meta.url), 'utf8');
  const tables = [...page.matchAll(/CREATE TABLE SERVICE_TRACES \(\n(.*?)\n\)/gs)].map(([, body = '']) =>
    [...body.matchAll(/(?:^|, |\n) *([A-Z][A-Za-z_]*) (?=[A-Z])/g)].map(([, name = '']) => name).toSorted(),
  );
  const [clickhouse = [], snowflake = []] = tables;
  const [line = ''] = (await sentTo('clickhouse', sampleExported())).split('\n');
  const row = parseJsonObject(line.slice(line.indexOf('{"Timestamp"')));
  assert.deepEqual(clickhouse, Object.keys(row ?? {}).toSorted());
  const [, columns = ''] = /INSERT \(([^)]*)\)/.exec(await sentTo('snowflake', sampleExported())) ?? [];
  assert.deepEqual(snowflake, columns.split(', ').toSorted());
});

test('both encodings of a thousand records decode to the same', () => {
  for (let index = 0; index < 1_000; index++) {
    const random = createRandom(seedOf(readSeed(), index));
    const spans = spansOf(madeUp(random), random.pick(['tree', 'generation'] as const)).map((span) => ({
      ...span,
      attributes: {
        ...span.attributes,
        minus: -random.int(1, 2 ** 31),
        most: Number.MAX_SAFE_INTEGER - random.int(0, 9),
        share: new Double(random.next() - 0.5),
        list: [textOf(random), ''],
      },
    }));
    const request = { resource: { 'service.name': textOf(random) }, scope: { name: 's', version: '1' }, spans };
    const fromJson = parseJsonObject(encodeSpansAsJson(request));
    assert.deepEqual(
      settled(decodeProtobuf(Buffer.from(encodeSpansAsProtobuf(request)))),
      settled(fromJson ?? null),
      `FUZZ_SEED=${readSeed()}, record ${index}`,
    );
  }
});

/** Protocol Buffers do not write what is empty. */
function settled(value: Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => settled(one));
  if (!isJsonObject(value)) return value;
  const isValue = (key: string): boolean => key.endsWith('Value');
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const inner = member === undefined ? undefined : settled(member);
      const isEmpty =
        inner === undefined ||
        inner === '' ||
        (Array.isArray(inner) && inner.length === 0) ||
        (isJsonObject(inner) && Object.keys(inner).length === 0);
      return isEmpty && !isValue(key) ? [] : [[key, inner]];
    }),
  );
}

const TEXTS = ['', 'a', 'ä', '\u{1F511}', 'x'.repeat(300), '"\\\u0001', '\uFFFD'];

function textOf(random: Random): string {
  return random.pick(TEXTS) + random.pick(TEXTS);
}

function madeUp(random: Random): ExportedGeneration {
  const startMs = 1_790_000_000_000 + random.int(0, 2 ** 31);
  const endMs = startMs + random.int(0, 10 ** 6);
  return sampleExported({
    id: `gen-${random.int(0, 10 ** 9)}`,
    startMs,
    endMs,
    firstTokenMs: startMs + random.int(0, endMs - startMs),
    modelRequested: textOf(random),
    trace: {
      [`k${textOf(random)}`]: textOf(random),
      n: random.int(-5, 5),
      b: random.chance(0.5),
      trace_id: textOf(random),
    },
    tokens: {
      prompt: random.int(0, 10 ** 9),
      completion: random.int(0, 10 ** 6),
      cacheRead: random.int(0, 1),
      cacheWrite: 0,
      estimated: random.chance(0.5),
    },
    ...(random.chance(0.5) && { error: { type: 'upstream', message: textOf(random) } }),
    ...(random.chance(0.5) && {
      traceContext: {
        traceId: 'ab'.repeat(16),
        parentSpanId: 'cd'.repeat(8),
        flags: random.int(0, 255),
        state: random.pick(['a=b', 'v=1,w=2']),
      },
    }),
  });
}

function takesTrees(type: string): boolean {
  const found = DESTINATION_TYPES.find((one) => one.type === type);
  return found?.schema.safeParse({ ...DESTINATION_CONFIGS[type], spans: 'tree' }).success === true;
}
