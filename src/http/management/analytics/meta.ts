import { z } from 'zod';
import { DIMENSIONS, GRANULARITIES, OPERATORS } from '../../../telemetry/analytics/dimensions.ts';
import { METRICS } from '../../../telemetry/analytics/metrics.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const named = { name: z.string(), display_label: z.string() };

/** @spec analytics-2 */
const metaSchema = z
  .strictObject({
    metrics: z.array(
      z.strictObject({
        ...named,
        display_format: z.enum(['number', 'currency', 'percent', 'latency', 'throughput']),
        is_rate: z.boolean().describe('It cannot be added up over rows.'),
      }),
    ),
    dimensions: z.array(z.strictObject(named)),
    granularities: z.array(z.strictObject(named)),
    operators: z.array(z.strictObject({ name: z.string(), value_type: z.enum(['scalar', 'array']) })),
  })
  .meta({ id: 'AnalyticsMeta' });

export const getAnalyticsMeta = defineRoute({
  method: 'GET',
  path: '/analytics/meta',
  scope: 'management',
  operationId: 'getAnalyticsMeta',
  tag: 'Analytics',
  summary: 'List what an analytics query may name',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'All names.', schema: z.strictObject({ data: metaSchema }) } },
  errors: [],
  users: 'narrowed',
  handle: () => ({ status: 200, body: { data: META } }),
});

const META: z.output<typeof metaSchema> = {
  metrics: METRICS.map(({ name, label, format, isRate }) => ({
    name,
    display_label: label,
    display_format: format,
    is_rate: isRate,
  })),
  dimensions: DIMENSIONS.map(({ name, label }) => ({ name, display_label: label })),
  granularities: GRANULARITIES.map(({ name, label }) => ({ name, display_label: label })),
  operators: OPERATORS.map(({ name, valueType }) => ({ name, value_type: valueType })),
};
