import { z } from 'zod';
import { flag, restriction, share, text, time } from './columns.ts';
import { filterRules, filterRulesSchema, sentFilterRulesSchema } from './filter-rules.ts';
import { defineResource, member, type NewOf, type PatchOf, type RowOf } from './resource.ts';

const TYPE_CHARS_MAX = 50;
const NAME_CHARS_MAX = 255;
const HASHES_MAX = 100;
/** The least share that a rate can name. @spec destination-3 */
const SHARE_MIN = 0.0001;

const name = z.string().min(1).max(NAME_CHARS_MAX);

const when = z.iso.datetime().nullable();
/** How its deliveries go. */
const health = z
  .object({
    state: z.enum(['ok', 'retrying', 'failing', 'suspended']),
    last_success_at: when,
    last_error: z.object({ at: z.iso.datetime(), status: z.number().nullable(), message: z.string() }).nullable(),
    pending: z.number().describe('Records of the workspace that it has not taken, counted up to 10,000.'),
    oldest_pending_at: when,
    sent: z.number(),
    failed: z.number().describe('Refused for good.'),
    dropped: z.number().describe('Too old, or without room.'),
    recent_failures: z.array(
      z.object({ record_id: z.string(), at: z.iso.datetime(), status: z.number(), message: z.string() }),
    ),
  })
  .describe('How deliveries go.');

/**
 * Where records of generations are sent.
 * @spec destination-3; `@openrouter/sdk` 1.3.19, `ObservabilityWebhookDestination` and its siblings
 */
export const destinationResource = defineResource('ObservabilityDestination', {
  id: member(text, { shown: z.string() }),
  workspace_id: member(text, {
    shown: z.string(),
    create: z.uuid().optional().describe('Default: the default workspace.'),
  }),
  type: member(text, {
    shown: z.string(),
    create: z.string().min(1).max(TYPE_CHARS_MAX).describe('`GET /observability/destination-types` lists them.'),
  }),
  name: member(text, { shown: z.string().nullable(), create: name, update: name }),
  enabled: member(flag, { initial: true, set: z.boolean() }),
  privacy_mode: member(flag, {
    initial: false,
    shown: z.boolean(),
    set: z.boolean().optional().describe('Leaves out the content, whatever the workspace keeps.'),
  }),
  regions: z.array(z.literal('global')).describe('Destinations are bound to no region here.'),
  sampling_ppm: member(share, {
    as: 'sampling_rate',
    initial: 1_000_000,
    shown: z.number(),
    set: z.number().min(SHARE_MIN).max(1).optional().describe('Share of sessions that are sent.'),
  }),
  sends_cost: member(flag, { as: 'broadcast_generation_cost', initial: false, set: z.boolean() }),
  sends_identity: member(flag, {
    as: 'broadcast_generation_identity',
    initial: false,
    shown: z.boolean(),
    set: z.boolean().optional().describe('Key, workspace and member.'),
  }),
  sends_request_context: member(flag, {
    as: 'broadcast_generation_request_context',
    initial: false,
    shown: z.boolean(),
    set: z.boolean().optional().describe('Application, user agent, attempts.'),
  }),
  api_key_hashes: member(restriction, {
    initial: null,
    shown: z.array(z.string()).nullable(),
    set: z.array(z.string()).min(1).max(HASHES_MAX).nullable().optional().describe('Null: all keys.'),
  }),
  filter_rules: member(filterRules, {
    initial: null,
    shown: filterRulesSchema.nullable(),
    set: sentFilterRulesSchema.nullable(),
  }),
  /** JSON as `lib/secret-box.ts` sealed it: addresses and headers hold credentials, too. */
  sealed_config: member(text, {}),
  secret_id: member(text, {}),
  config: z.record(z.string(), z.unknown()).describe('Secrets are masked.'),
  health,
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at_ms: member(time, { shown: z.iso.datetime() }),
});

export type DestinationRow = RowOf<typeof destinationResource>;
export type NewDestinationValues = NewOf<typeof destinationResource>;
export type DestinationPatch = PatchOf<typeof destinationResource>;
