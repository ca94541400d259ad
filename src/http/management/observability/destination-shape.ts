import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
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

export function serializeDestination({ config, ...record }: DestinationRecord): z.output<typeof destinationSchema> {
  return destinationResource.serialize(record, { regions: ['global'], config: { ...config } });
}
