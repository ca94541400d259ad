import { z } from 'zod';
import type { ProviderSortMetric } from '../canonical/directives.ts';
import { flag, list, nullable, share, text, textOf, time } from './columns.ts';
import { defaultPlugins, defaultPluginsSchema } from './default-plugins.ts';
import { defaultPreferences, defaultPreferencesSchema } from './default-preferences.ts';
import { defineResource, member, type PatchOf, type RowOf } from './resource.ts';

const NAME_CHARS_MAX = 100;
const SLUG_CHARS_MAX = 50;
const DESCRIPTION_CHARS_MAX = 500;
const MODEL_CHARS_MAX = 256;
const LOGGED_KEYS_MAX = 1_000;
const RATE_MIN = 0.0001;

const name = z.string().min(1).max(NAME_CHARS_MAX);
const slug = z
  .string()
  .min(1)
  .max(SLUG_CHARS_MAX)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, {
    error: 'must be lower-case letters and digits, in parts that single hyphens join',
  });
const model = z.string().min(1).max(MODEL_CHARS_MAX).nullable();

/** Workspaces. A deleted one stays as a row, so that what was made in it keeps a name. @spec workspace-5 */
export const workspaceResource = defineResource('Workspace', {
  id: member(text, { shown: z.uuid() }),
  name: member(text, { shown: z.string(), create: name, update: name }),
  /** Unique among workspaces that are not deleted. */
  slug: member(text, { shown: z.string(), create: slug, update: slug }),
  description: member(nullable(text), {
    initial: null,
    shown: z.string().nullable(),
    set: z.string().max(DESCRIPTION_CHARS_MAX).nullable(),
  }),
  default_text_model: member(nullable(text), {
    initial: null,
    shown: z.string().nullable(),
    set: model.optional().describe('For requests that name no model.'),
  }),
  default_image_model: member(nullable(text), { initial: null, shown: z.string().nullable(), set: model }),
  default_provider_sort: member(nullable(textOf<ProviderSortMetric>()), {
    initial: null,
    set: z.enum(['price', 'throughput', 'latency', 'exacto']).nullable(),
  }),
  default_provider_preferences: member(defaultPreferences, { initial: null, set: defaultPreferencesSchema }),
  default_plugins: member(defaultPlugins, { initial: null, set: defaultPluginsSchema }),
  is_io_logging_enabled: member(flag, {
    as: 'is_observability_io_logging_enabled',
    initial: false,
    shown: z.boolean(),
    set: z.boolean().optional().describe('Whether requests and responses are kept.'),
  }),
  io_logging_sampling_ppm: member(share, {
    as: 'io_logging_sampling_rate',
    initial: 1_000_000,
    shown: z.number(),
    set: z.number().min(RATE_MIN).max(1).optional().describe('Of how many of them.'),
  }),
  /** Null: all keys. */
  io_logging_api_key_ids: member(nullable(list(z.int())), {
    initial: null,
    shown: z.array(z.int()).nullable(),
    set: z.array(z.int()).max(LOGGED_KEYS_MAX).nullable(),
  }),
  io_logging_api_key_hashes: member(nullable(list(z.string())), {
    initial: null,
    shown: z.array(z.string()).nullable(),
    set: z
      .array(z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be 64 lower-case hex digits' }))
      .max(LOGGED_KEYS_MAX)
      .nullable()
      .optional()
      .describe('Of which keys, by hash. Null: of all.'),
  }),
  /** Records leave only once there is a destination; from then on they should. */
  is_broadcast_enabled: member(flag, {
    as: 'is_observability_broadcast_enabled',
    initial: true,
    shown: z.boolean(),
    set: z.boolean().optional().describe('Whether destinations are sent anything.'),
  }),
  is_data_discount_logging_enabled: member(flag, { initial: false, set: z.boolean() }),
  include_byok_in_budgets: member(flag, { initial: false, shown: z.boolean() }),
  default_guardrail_id: member(text, { shown: z.uuid() }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  /** Null until the first change. */
  updated_at_ms: member(nullable(time), { initial: null, shown: z.iso.datetime().nullable() }),
  created_by: member(nullable(text), {
    initial: null,
    shown: z.string().nullable().describe('The hash of a management key.'),
  }),
});

export type WorkspaceRow = RowOf<typeof workspaceResource>;
export type WorkspacePatch = PatchOf<typeof workspaceResource>;
