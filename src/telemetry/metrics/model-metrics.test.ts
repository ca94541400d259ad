import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sampleEndpoint, sampleFacts, sampleRequest, settledRecord } from '../../../tests/support/settled-record.ts';
import { textOf } from '../../../tests/support/reported.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import type { GenerationRecord } from '../record.ts';
import { createModelMetrics, type ModelMetrics } from './model-metrics.ts';

const START_MS = 1_790_000_000_000;
const NOW_MS = START_MS + 60_000;

/** A stream that came at 0, began after 600 ms and ended after 2,400 ms, at the second provider that was tried. */
function record(changes: Partial<GenerationRecord> = {}): GenerationRecord {
  const facts = sampleFacts({ ...sampleRequest, delivery: 'stream' });
  const settled = settledRecord(facts);
  const attempt = { model: 'one' };
  return {
    ...settled,
    endpoint: sampleEndpoint,
    attempts: [
      { ...attempt, provider: 'beta', status: 503, latencyMs: 300 },
      { ...attempt, provider: sampleEndpoint.provider, status: 200, latencyMs: 300 },
    ],
    report: { ...settled.report, requested: 'acme/one', arrivedMs: 0, endedMs: 2_400 },
    firstTokenMs: 600,
    usage: { ...NO_USAGE, promptTokens: 1_200, completionTokens: 91 },
    error: undefined,
    ...changes,
  };
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** The points of a metric with plain attributes. */
function pointsOf(metrics: ModelMetrics, name: string): readonly (JsonObject & { readonly own: JsonObject })[] {
  const metric = metrics.encode(NOW_MS).find((one) => one['name'] === name);
  const histogram = metric?.['histogram'];
  return listOf(isJsonObject(histogram) ? histogram['dataPoints'] : []).map((point) => ({
    ...point,
    own: Object.fromEntries(
      listOf(point['attributes']).map(({ key, value }) => [textOf(key), Object.values(value as JsonObject)[0]]),
    ),
  }));
}

suite('metrics of models', () => {
  // @spec destination-25
  test('have what attempts took and what callers saw, by the names of the conventions', () => {
    const metrics = createModelMetrics('cumulative', START_MS);
    metrics.observe(record());
    const operations = pointsOf(metrics, 'gen_ai.client.operation.duration');
    assert.deepEqual(
      operations.map(({ own, sum }) => [own['gen_ai.provider.name'], own['error.type'], sum]),
      [
        ['beta', '503', 0.3],
        [sampleEndpoint.provider, undefined, 2.1],
      ],
    );
    const [firstChunk] = pointsOf(metrics, 'gen_ai.client.operation.time_to_first_chunk');
    const [firstToken] = pointsOf(metrics, 'gen_ai.server.time_to_first_token');
    const [outputToken] = pointsOf(metrics, 'gen_ai.server.time_per_output_token');
    const [request] = pointsOf(metrics, 'gen_ai.server.request.duration');
    assert.deepEqual(
      [firstChunk?.['sum'], firstToken?.['sum'], outputToken?.['sum'], request?.['sum']],
      [0.3, 0.6, 0.02, 2.4],
    );
    const tokens = pointsOf(metrics, 'gen_ai.client.token.usage');
    assert.deepEqual(
      tokens.map(({ own, sum, bucketCounts }) => [
        own['gen_ai.token.type'],
        sum,
        (bucketCounts as string[]).indexOf('1'),
      ]),
      [
        ['input', 1_200, 6],
        ['output', 91, 4],
      ],
    );
    assert.deepEqual(
      [request?.['startTimeUnixNano'], request?.['timeUnixNano'], request?.own['gen_ai.operation.name']],
      [`${START_MS}000000`, `${NOW_MS}000000`, 'chat'],
    );
  });

  test('count generations inside a request as operations, and not as requests', () => {
    const metrics = createModelMetrics('cumulative', START_MS);
    metrics.observe(record({ id: 'inner', requestId: 'outer' }));
    assert.equal(pointsOf(metrics, 'gen_ai.client.operation.duration').length, 2);
    assert.equal(pointsOf(metrics, 'gen_ai.server.request.duration').length, 0);
  });

  test('have no operation of a response from the cache, nor tokens that no provider reported', () => {
    const metrics = createModelMetrics('cumulative', START_MS);
    metrics.observe(record({ attempts: [], usage: undefined }));
    assert.deepEqual(
      metrics.encode(NOW_MS).map(({ name }) => name),
      ['gen_ai.server.time_to_first_token', 'gen_ai.server.request.duration'],
    );
  });

  test('have the durations of tools, not of plugins', () => {
    const metrics = createModelMetrics('cumulative', START_MS);
    const step = { key: '1', startMs: 0, durationMs: 500, hasFailed: true } as const;
    metrics.observe(
      record({
        steps: [
          { ...step, kind: 'tool', name: 'search' },
          { ...step, kind: 'plugin', name: 'web' },
        ],
      }),
    );
    const tools = pointsOf(metrics, 'gen_ai.execute_tool.duration');
    assert.deepEqual(
      tools.map(({ own, sum }) => [own['gen_ai.tool.name'], own['error.type'], sum]),
      [['search', 'tool_error', 0.5]],
    );
  });

  // @spec destination-25
  test('name five hundred models and tools, and name neither keys, users nor sessions', () => {
    const metrics = createModelMetrics('cumulative', START_MS);
    for (let index = 0; index < 700; index++) {
      const made = record();
      metrics.observe({ ...made, report: { ...made.report, requested: `made/up-${index}` } });
    }
    const points = pointsOf(metrics, 'gen_ai.server.request.duration');
    assert.equal(points.length, 500, 'one of the names is that of the response');
    assert.equal(points.at(-1)?.own['gen_ai.request.model'], 'other');
    assert.equal(
      points.reduce((sum, { count }) => sum + Number(count), 0),
      700,
    );
    const keys = new Set(points.flatMap(({ own }) => Object.keys(own)));
    assert.deepEqual([...keys].toSorted(), [
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.response.model',
    ]);
  });
});
