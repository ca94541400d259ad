import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { destinationResource } from '../../../resources/destinations.ts';
import type { DestinationRecord } from '../../../telemetry/destinations/destinations.ts';

/** Body members beside the settings. */
export const testShape = { skip_test: z.boolean().optional().describe('Saves it without calling it first.') };

/** The configuration of one kind of destination; the schema of the kind checks its members. */
export const configSchema = z
  .record(z.string(), z.unknown())
  .refine((value) => isJsonObject(value), 'must be an object')
  .describe('otel-collector, otel-metrics: endpoint, headers. webhook: url, method, headers, signing_secret.');

/** Restores the JSON that the configuration was parsed from. */
export function toConfig(config: Readonly<Record<string, unknown>>): JsonObject {
  const copy: Json = JSON.parse(JSON.stringify(config));
  return isJsonObject(copy) ? copy : {};
}

export const destinationPathSchema = z.strictObject({ id: z.string() });

export const { schema: destinationSchema } = destinationResource;

export function serializeDestination({
  config,
  health,
  ...record
}: DestinationRecord): z.output<typeof destinationSchema> {
  return destinationResource.serialize(record, {
    regions: ['global'],
    config: { ...config },
    health: serializeHealth(health),
  });
}

function serializeHealth(health: DestinationRecord['health']): z.output<typeof destinationSchema>['health'] {
  const { state, lastSuccessMs, lastError, pending, oldestPendingMs, sent, failed, dropped, recentFailures } = health;
  return {
    state,
    last_success_at: timeOf(lastSuccessMs),
    last_error: lastError && {
      at: serializeTime(lastError.atMs),
      status: lastError.status,
      message: lastError.message,
    },
    pending,
    oldest_pending_at: timeOf(oldestPendingMs),
    sent,
    failed,
    dropped,
    recent_failures: recentFailures.map(({ recordId, atMs, status, message }) => ({
      record_id: recordId,
      at: serializeTime(atMs),
      status,
      message,
    })),
  };
}

const timeOf = (atMs: number | null): string | null => (atMs === null ? null : serializeTime(atMs));
