import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportedGeneration } from './contract.ts';
import { otelMetrics } from './otel-metrics/destination.ts';
import { encodeMetrics } from './otlp-metrics.ts';

const generation: ExportedGeneration = {
  id: 'gen-1',
  requestId: 'gen-1',
  startMs: 1_000,
  firstTokenMs: 1_300,
  endMs: 3_000,
  modelRequested: 'acme/one',
  model: 'acme/one',
  provider: 'alpha',
  apiType: 'chat',
  isCached: false,
  streamed: true,
  cancelled: false,
  status: 200,
  tokens: { prompt: 10, completion: 300, cacheRead: 0, cacheWrite: 0, estimated: false },
  settings: {},
  sessionId: 's',
  trace: {},
  cost: { total: 2_000_000 },
  identity: { keyHash: 'h', workspaceId: 'w' },
  context: { region: 'local', attempts: [], strategy: 'direct' },
};

interface Point {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
  readonly count: string;
  readonly sum: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
  readonly asDouble: number;
}

const SERVICE = { name: 's', version: '1', instanceId: 'i', region: 'local' };

function pointsOf(batch: readonly ExportedGeneration[], name: string): readonly Point[] {
  const { resourceMetrics } = encodeMetrics(batch, SERVICE, 5_000) as {
    resourceMetrics: { scopeMetrics: { metrics: { name: string; histogram?: object; sum?: object }[] }[] }[];
  };
  const metric = resourceMetrics[0]?.scopeMetrics[0]?.metrics.find((one) => one.name === name);
  const data = (metric?.histogram ?? metric?.sum) as
    | { aggregationTemporality: number; dataPoints: Point[] }
    | undefined;
  if (data !== undefined) assert.equal(data.aggregationTemporality, 1);
  return data?.dataPoints ?? [];
}

function labelsOf(point: Point | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries((point?.attributes ?? []).map(({ key, value }) => [key, value.stringValue]));
}

test('counts tokens, durations and first chunks of a batch in a histogram for each model', () => {
  const failed = { ...generation, endMs: 201_000, error: { type: 'provider_overloaded', message: 'x' } };
  const batch = [generation, { ...generation, streamed: false }, failed];
  const tokens = pointsOf(batch, 'gen_ai.client.token.usage');
  assert.deepEqual(
    tokens.map((point) => [labelsOf(point)['gen_ai.token.type'], point.count, point.sum]),
    [
      ['input', '3', 30],
      ['output', '3', 900],
    ],
  );
  for (const { bucketCounts, explicitBounds, count } of tokens) {
    assert.equal(bucketCounts.length, explicitBounds.length + 1);
    assert.equal(
      bucketCounts.reduce((sum, one) => sum + Number(one), 0),
      Number(count),
    );
  }
  assert.equal(tokens[0]?.bucketCounts[2], '3', '10 is above 4 and not above 16');
  const durations = pointsOf(batch, 'gen_ai.client.operation.duration');
  assert.deepEqual(
    durations.map((point) => [labelsOf(point)['error.type'], point.count, point.sum]),
    [
      [undefined, '2', 4],
      ['provider_overloaded', '1', 200],
    ],
  );
  assert.equal(durations[1]?.bucketCounts.at(-1), '1');
  const [first] = pointsOf(batch, 'gen_ai.client.operation.time_to_first_chunk');
  assert.deepEqual([first?.count, first?.sum], ['2', 0.6]);
});

test('contain the cost if the destination includes it, and no keys or sessions', () => {
  const [cost] = pointsOf([generation, generation], 'gateway.cost');
  assert.equal(cost?.asDouble, 0.004);
  assert.deepEqual(Object.keys(labelsOf(cost)), [
    'gen_ai.operation.name',
    'gen_ai.provider.name',
    'gen_ai.request.model',
    'gen_ai.response.model',
  ]);
  const { cost: _cost, ...unpriced } = generation;
  assert.deepEqual(pointsOf([unpriced], 'gateway.cost'), []);
});

test('sends metrics to the path of metrics', () => {
  const url = (endpoint: string): string => otelMetrics.open({ endpoint }, SERVICE).url;
  assert.equal(url('https://otel.example'), 'https://otel.example/v1/metrics');
  assert.equal(url('https://otel.example/base/'), 'https://otel.example/base/v1/metrics');
  assert.equal(url('https://otel.example/v1/metrics'), 'https://otel.example/v1/metrics');
});
