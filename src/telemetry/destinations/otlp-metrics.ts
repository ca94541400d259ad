import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { ExportedGeneration, Service } from './contract.ts';
import { attributesOf, nanoOf } from './otlp/encode-json.ts';
import { operationOf, providerNameOf } from './otlp/generation-attributes.ts';
import { bucketOf, SECOND_BOUNDS, TOKEN_BOUNDS } from './otlp/metric-bounds.ts';
import { resourceOf, scopeOf } from './otlp/otlp-destination.ts';
import type { Attributes } from './otlp/span.ts';

/** `AggregationTemporality` of opentelemetry-proto 1.9, metrics.proto: each export contains the change since the one before. */
const DELTA = 1;
const MS_PER_S = 1_000;

interface Observation {
  readonly attributes: Attributes;
  readonly value: number;
}

/** An OTLP export request of metrics in JSON: the sums of a batch of generations. Empty without any data. */
export function encodeMetrics(batch: readonly ExportedGeneration[], service: Service, nowMs: number): JsonObject {
  if (batch.length === 0) return { resourceMetrics: [] };
  const span = { startMs: batch.reduce((least, { startMs }) => Math.min(least, startMs), nowMs), nowMs };
  const metrics = [
    histogram('gen_ai.client.token.usage', '{token}', TOKEN_BOUNDS, batch.flatMap(tokensOf), span),
    histogram('gen_ai.client.operation.duration', 's', SECOND_BOUNDS, batch.map(durationOf), span),
    histogram('gen_ai.client.operation.time_to_first_chunk', 's', SECOND_BOUNDS, batch.flatMap(firstChunkOf), span),
    costOf(batch, span),
  ];
  return {
    resourceMetrics: [
      {
        resource: { attributes: attributesOf(resourceOf(service)) },
        scopeMetrics: [{ scope: { ...scopeOf(service) }, metrics: metrics.filter((metric) => metric !== undefined) }],
      },
    ],
  };
}

/** Of few values each: a series for every session or key is what traces are for. */
function commonAttributes(generation: ExportedGeneration): Attributes {
  return {
    'gen_ai.operation.name': operationOf(generation),
    'gen_ai.provider.name': providerNameOf(generation),
    'gen_ai.request.model': generation.modelRequested,
    'gen_ai.response.model': generation.model,
  };
}

function tokensOf(generation: ExportedGeneration): readonly Observation[] {
  if (generation.tokens === undefined) return [];
  const { prompt, completion } = generation.tokens;
  const attributes = commonAttributes(generation);
  return [
    { attributes: { ...attributes, 'gen_ai.token.type': 'input' }, value: prompt },
    { attributes: { ...attributes, 'gen_ai.token.type': 'output' }, value: completion },
  ];
}

function durationOf(generation: ExportedGeneration): Observation {
  const attributes = { ...commonAttributes(generation), 'error.type': generation.error?.type };
  return { attributes, value: (generation.endMs - generation.startMs) / MS_PER_S };
}

/** Of streams alone, as the conventions say. */
function firstChunkOf(generation: ExportedGeneration): readonly Observation[] {
  const { firstTokenMs, startMs, streamed } = generation;
  if (!streamed || firstTokenMs === undefined) return [];
  return [{ attributes: commonAttributes(generation), value: (firstTokenMs - startMs) / MS_PER_S }];
}

interface Span {
  readonly startMs: number;
  readonly nowMs: number;
}

function histogram(
  name: string,
  unit: string,
  bounds: readonly number[],
  observations: readonly Observation[],
  span: Span,
): JsonObject | undefined {
  if (observations.length === 0) return undefined;
  const dataPoints = bySeries(observations).map(({ attributes, values }) => ({
    ...pointOf(attributes, span),
    count: String(values.length),
    sum: values.reduce((sum, value) => sum + value, 0),
    min: Math.min(...values),
    max: Math.max(...values),
    bucketCounts: countBuckets(values, bounds),
    explicitBounds: bounds,
  }));
  return { name, unit, histogram: { aggregationTemporality: DELTA, dataPoints } };
}

function costOf(batch: readonly ExportedGeneration[], span: Span): JsonObject | undefined {
  const known = batch.flatMap((generation) =>
    generation.cost === undefined ? [] : [{ attributes: commonAttributes(generation), value: generation.cost.total }],
  );
  if (known.length === 0) return undefined;
  const dataPoints = bySeries(known).map(({ attributes, values }) => ({
    ...pointOf(attributes, span),
    asDouble: usdFromNano(values.reduce((sum, value) => sum + value, 0)),
  }));
  return { name: 'gateway.cost', unit: 'USD', sum: { aggregationTemporality: DELTA, isMonotonic: true, dataPoints } };
}

function pointOf(attributes: Attributes, { startMs, nowMs }: Span): JsonObject {
  return {
    attributes: attributesOf(attributes),
    startTimeUnixNano: nanoOf(startMs),
    timeUnixNano: nanoOf(nowMs),
  };
}

interface Series {
  readonly attributes: Attributes;
  readonly values: number[];
}

function bySeries(observations: readonly Observation[]): readonly Series[] {
  const series = new Map<string, Series>();
  for (const { attributes, value } of observations) {
    const name = JSON.stringify(attributes);
    const known = series.get(name) ?? { attributes, values: [] };
    known.values.push(value);
    series.set(name, known);
  }
  return [...series.values()];
}

/** 64-bit integers are texts in the JSON encoding. */
function countBuckets(values: readonly number[], bounds: readonly number[]): readonly string[] {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0);
  for (const value of values) {
    const bucket = bucketOf(value, bounds);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts.map(String);
}
