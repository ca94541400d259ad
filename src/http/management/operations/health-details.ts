import { z } from 'zod';
import { serializeTime } from '../../../resources/columns.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import type { HealthDetails, ProcessDetails } from './services.ts';

const count = z.int().min(0);
const ms = z.number().nonnegative();
const pingMs = ms.nullable().describe('Null: it does not answer.');

const processSchema = z.strictObject({
  name: z.string().describe('`gateway`, or `first` and `worker 1`.'),
  figures: z
    .strictObject({
      pid: count,
      uptime_ms: ms,
      memory_bytes: count,
      heap_bytes: count,
      event_loop_delay_ms: z
        .strictObject({ p50: ms, p99: ms, max: ms })
        .describe('Since the last scrape of the metrics.'),
      open_streams: count,
      requests_in_flight: count,
      records_lost: count.describe('This and the next two: since the start.'),
      content_lost: count,
      policy_reports: count.describe('What browsers refused because of the policy of the dashboard.'),
      journal: z.strictObject({
        bytes: count,
        unwritten_records: count,
        unapplied_bytes: count,
        behind_ms: ms.describe('For how long the oldest record has waited for the database.'),
      }),
    })
    .nullable()
    .describe('Null: it does not answer.'),
});

const healthDetailsSchema = z
  .strictObject({
    version: z.string(),
    started_at: z.iso.datetime(),
    status: z.enum(['ready', 'degraded', 'unavailable']),
    reasons: z.array(z.string()).describe('Why it is not ready, or what does not work although it is.'),
    database: z.strictObject({
      engine: z.enum(['sqlite', 'postgres']),
      ping_ms: pingMs,
      bytes: count.nullable(),
    }),
    redis: z.strictObject({ ping_ms: pingMs }).nullable().describe('Null: none is configured.'),
    catalog: z.strictObject({ models: count, endpoints: count }),
    processes: z.array(processSchema),
  })
  .meta({ id: 'HealthDetails' });

export const getHealthDetails = defineRoute({
  method: 'GET',
  path: '/health/details',
  scope: 'management',
  operationId: 'getHealthDetails',
  tag: 'Operations',
  summary: 'Show every part of the gateway with its figures',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'Within 2 s, whatever does not answer.',
      schema: z.strictObject({ data: healthDetailsSchema }),
    },
  },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: serialize(await services.operations.details()) } };
  },
});

function serialize(details: HealthDetails): z.output<typeof healthDetailsSchema> {
  const { version, startedAtMs, problem, degraded, database, redis, catalog, processes } = details;
  return {
    version,
    started_at: serializeTime(startedAtMs),
    status: problem === null ? (degraded.length === 0 ? 'ready' : 'degraded') : 'unavailable',
    reasons: problem === null ? [...degraded] : [problem],
    database: { engine: database.engine, ping_ms: database.pingMs, bytes: database.bytes },
    redis: redis && { ping_ms: redis.pingMs },
    catalog: { ...catalog },
    processes: processes.map(serializeProcess),
  };
}

function serializeProcess({ name, figures }: ProcessDetails): z.output<typeof processSchema> {
  if (figures === null) return { name, figures };
  const { journal } = figures;
  return {
    name,
    figures: {
      pid: figures.pid,
      uptime_ms: figures.uptimeMs,
      memory_bytes: figures.memoryBytes,
      heap_bytes: figures.heapBytes,
      event_loop_delay_ms: { ...figures.loopDelayMs },
      open_streams: figures.openStreams,
      requests_in_flight: figures.requestsInFlight,
      records_lost: figures.recordsLost,
      content_lost: figures.contentLost,
      policy_reports: figures.policyReports,
      journal: {
        bytes: journal.bytes,
        unwritten_records: journal.unwritten,
        unapplied_bytes: Math.max(0, journal.unapplied),
        behind_ms: journal.behindMs,
      },
    },
  };
}
