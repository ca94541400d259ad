import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { DestinationRecord, DestinationWish } from '../../../telemetry/destinations/destinations.ts';
import { filterRulesSchema, sentFilterRulesSchema } from '../../../telemetry/destinations/filter-rules.ts';
import { drawTime } from '../keys/key-shape.ts';

const NAME_CHARS_MAX = 255;
const HASHES_MAX = 100;
/** The least share that a rate can name. @source areas.md 11 */
const SHARE_MIN = 0.0001;
const MILLION = 1_000_000;

export const nameSchema = z.string().min(1).max(NAME_CHARS_MAX);

/** What can be changed. */
export const settingsShape = {
  enabled: z.boolean().optional(),
  privacy_mode: z.boolean().optional().describe('Leaves out what was said, whatever the workspace keeps.'),
  sampling_rate: z.number().min(SHARE_MIN).max(1).optional().describe('Share of sessions that are sent.'),
  broadcast_generation_cost: z.boolean().optional(),
  broadcast_generation_identity: z.boolean().optional().describe('Key, workspace and member.'),
  broadcast_generation_request_context: z.boolean().optional().describe('Application, user agent, attempts.'),
  api_key_hashes: z.array(z.string()).min(1).max(HASHES_MAX).nullable().optional().describe('Null: all keys.'),
  filter_rules: sentFilterRulesSchema.nullable().optional(),
  skip_test: z.boolean().optional().describe('Saves it without calling it first.'),
};

/** What only its kind knows: which members there are, its own schema says. */
export const configSchema = z
  .record(z.string(), z.unknown())
  .refine((value) => isJsonObject(value), 'must be an object')
  .describe('otel-collector: endpoint, headers. webhook: url, method, headers, signing_secret.');

type SettingsBody = z.output<z.ZodObject<typeof settingsShape>> & {
  readonly name?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
};

export function readWish(body: SettingsBody): DestinationWish {
  const { name, config, enabled, sampling_rate: share } = body;
  return {
    ...(name !== undefined && { name }),
    ...(config !== undefined && { config: readConfig(config) }),
    ...(enabled !== undefined && { enabled }),
    ...(share !== undefined && { samplingPpm: Math.round(share * MILLION) }),
    ...(body.privacy_mode !== undefined && { privacyMode: body.privacy_mode }),
    ...(body.broadcast_generation_cost !== undefined && { sendsCost: body.broadcast_generation_cost }),
    ...(body.broadcast_generation_identity !== undefined && { sendsIdentity: body.broadcast_generation_identity }),
    ...(body.broadcast_generation_request_context !== undefined && {
      sendsRequestContext: body.broadcast_generation_request_context,
    }),
    ...(body.api_key_hashes !== undefined && { apiKeyHashes: body.api_key_hashes }),
    ...(body.filter_rules !== undefined && { filterRules: body.filter_rules }),
    ...(body.skip_test !== undefined && { skipsTest: body.skip_test }),
  };
}

/** As JSON, which it came as. */
export function readConfig(config: Readonly<Record<string, unknown>>): JsonObject {
  const copy: Json = JSON.parse(JSON.stringify(config));
  return isJsonObject(copy) ? copy : {};
}

export const destinationPathSchema = z.strictObject({ id: z.string() });

/** @source areas.md 11; reference shapes, `ObservabilityWebhookDestination` and its siblings */
export const destinationSchema = z
  .strictObject({
    id: z.string(),
    workspace_id: z.string(),
    type: z.string(),
    name: z.string().nullable(),
    enabled: z.boolean(),
    privacy_mode: z.boolean(),
    sampling_rate: z.number(),
    broadcast_generation_cost: z.boolean(),
    broadcast_generation_identity: z.boolean(),
    broadcast_generation_request_context: z.boolean(),
    api_key_hashes: z.array(z.string()).nullable(),
    filter_rules: filterRulesSchema.nullable(),
    config: z.record(z.string(), z.unknown()).describe('Secrets are masked.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'ObservabilityDestination' });

export function drawDestination(record: DestinationRecord): z.output<typeof destinationSchema> {
  return {
    id: record.id,
    workspace_id: record.workspaceId,
    type: record.type,
    name: record.name,
    enabled: record.enabled,
    privacy_mode: record.privacyMode,
    sampling_rate: record.samplingPpm / MILLION,
    broadcast_generation_cost: record.sendsCost,
    broadcast_generation_identity: record.sendsIdentity,
    broadcast_generation_request_context: record.sendsRequestContext,
    api_key_hashes: record.apiKeyHashes === null ? null : [...record.apiKeyHashes],
    filter_rules: record.filterRules,
    config: { ...record.config },
    created_at: drawTime(record.createdAtMs),
    updated_at: drawTime(record.updatedAtMs),
  };
}
