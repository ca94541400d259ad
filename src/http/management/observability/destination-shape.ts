import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { destinationResource } from '../../../resources/destinations.ts';
import type { DestinationType } from '../../../telemetry/destinations/contract.ts';
import type { DestinationRecord } from '../../../telemetry/destinations/destinations.ts';
import { DESTINATION_TYPES } from '../../../telemetry/destinations/registry.ts';

/** Body members beside the settings. */
export const testShape = { skip_test: z.boolean().optional().describe('Saves it without calling it first.') };

/** The form of a kind's configuration as JSON Schema, in which secrets are never read back. */
export function formOf({ type, schema, secrets }: DestinationType): Readonly<Record<string, unknown>> {
  const { $schema: _version, properties = {}, ...form } = z.toJSONSchema(schema, { io: 'input' });
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    typeof member === 'object' && secrets.includes(name) ? { ...member, writeOnly: true } : member,
  ]);
  return { title: type, ...form, properties: Object.fromEntries(members) };
}

/** The configuration of one kind of destination; the schema of the kind checks its members. */
export const configSchema = z
  .record(z.string(), z.unknown())
  .refine((value) => isJsonObject(value), 'must be an object')
  .describe('Of the kind that `type` names: `GET /observability/destination-types` has their forms.');

/** The same where a new destination is described. */
export const newConfigSchema = configSchema.meta({
  description: 'Of the kind that `type` names.',
  anyOf: DESTINATION_TYPES.map(formOf),
});

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
