import { z } from 'zod';
import type { Workspace } from '../../../accounts/workspaces.ts';
import { defaultPluginsSchema, drawDefaultPlugins, readDefaultPlugins } from '../default-plugins.ts';
import { defaultPreferencesSchema, drawDefaultPreferences, readDefaultPreferences } from '../default-preferences.ts';
import type { ManagementServices } from '../route.ts';
import { drawTime } from '../keys/key-shape.ts';

const NAME_CHARS_MAX = 100;
const SLUG_CHARS_MAX = 50;
const DESCRIPTION_CHARS_MAX = 500;
const MODEL_CHARS_MAX = 256;
const LOGGED_KEYS_MAX = 1_000;

const PPM = 1_000_000;
const RATE_MIN = 0.0001;

/** The path of one workspace. What can be neither is unknown: 404. */
export const workspacePathSchema = z.strictObject({ id: z.string().describe('The id of a workspace, or its slug.') });

const model = z.string().min(1).max(MODEL_CHARS_MAX).nullable();
const sort = z.enum(['price', 'throughput', 'latency', 'exacto']).nullable();

export const nameSchema = z.string().min(1).max(NAME_CHARS_MAX);
export const slugSchema = z
  .string()
  .min(1)
  .max(SLUG_CHARS_MAX)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, {
    error: 'must be lower-case letters and digits, in parts that single hyphens join',
  });

/** What may be set beside the name and the slug. @source areas.md 8 "Fields" */
export const settingsShape = {
  description: z.string().max(DESCRIPTION_CHARS_MAX).nullable().optional(),
  default_text_model: model.optional().describe('For requests that name no model.'),
  default_image_model: model.optional(),
  default_provider_sort: sort.optional(),
  default_provider_preferences: defaultPreferencesSchema.optional(),
  default_plugins: defaultPluginsSchema.optional(),
  is_observability_io_logging_enabled: z.boolean().optional().describe('Whether requests and answers are kept.'),
  io_logging_sampling_rate: z.number().min(RATE_MIN).max(1).optional().describe('Of how many of them.'),
  io_logging_api_key_ids: z.array(z.int()).max(LOGGED_KEYS_MAX).nullable().optional(),
  io_logging_api_key_hashes: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be 64 lower-case hex digits' }))
    .max(LOGGED_KEYS_MAX)
    .nullable()
    .optional()
    .describe('Of which keys, by hash. Null: of all.'),
  is_observability_broadcast_enabled: z.boolean().optional().describe('Whether destinations are sent anything.'),
  is_data_discount_logging_enabled: z.boolean().optional(),
};

const settingsSchema = z.strictObject(settingsShape);

/** @source areas.md 8 "Fields"; reference shapes, `Workspace` */
export const workspaceSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    default_text_model: z.string().nullable(),
    default_image_model: z.string().nullable(),
    default_provider_sort: sort,
    default_provider_preferences: defaultPreferencesSchema,
    default_plugins: defaultPluginsSchema,
    is_observability_io_logging_enabled: z.boolean(),
    io_logging_sampling_rate: z.number(),
    io_logging_api_key_ids: z.array(z.int()).nullable(),
    io_logging_api_key_hashes: z.array(z.string()).nullable(),
    is_observability_broadcast_enabled: z.boolean(),
    is_data_discount_logging_enabled: z.boolean(),
    include_byok_in_budgets: z.boolean(),
    default_guardrail_id: z.uuid(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
    created_by: z.string().nullable().describe('The hash of a management key.'),
  })
  .meta({ id: 'Workspace' });

/** What of the settings was sent, as it is kept. */
export function readSettings(
  sent: z.output<typeof settingsSchema>,
  { readPlugins }: Pick<ManagementServices, 'readPlugins'>,
) {
  return {
    ...(sent.description !== undefined && { description: sent.description }),
    ...(sent.default_text_model !== undefined && { defaultTextModel: sent.default_text_model }),
    ...(sent.default_image_model !== undefined && { defaultImageModel: sent.default_image_model }),
    ...(sent.default_provider_sort !== undefined && { defaultProviderSort: sent.default_provider_sort }),
    ...(sent.default_provider_preferences !== undefined && {
      defaultPreferences: readDefaultPreferences(sent.default_provider_preferences),
    }),
    ...(sent.default_plugins !== undefined && {
      defaultPlugins: readDefaultPlugins(sent.default_plugins, readPlugins),
    }),
    ...readLogging(sent),
  };
}

function readLogging(sent: z.output<typeof settingsSchema>) {
  const rate = sent.io_logging_sampling_rate;
  return {
    ...(sent.is_observability_io_logging_enabled !== undefined && {
      logsContent: sent.is_observability_io_logging_enabled,
    }),
    ...(rate !== undefined && { logsContentPpm: Math.round(rate * PPM) }),
    ...(sent.io_logging_api_key_ids !== undefined && { logsContentOfKeyIds: sent.io_logging_api_key_ids }),
    ...(sent.io_logging_api_key_hashes !== undefined && { logsContentOfKeyHashes: sent.io_logging_api_key_hashes }),
    ...(sent.is_observability_broadcast_enabled !== undefined && {
      broadcasts: sent.is_observability_broadcast_enabled,
    }),
    ...(sent.is_data_discount_logging_enabled !== undefined && {
      logsForDiscount: sent.is_data_discount_logging_enabled,
    }),
  };
}

export function drawWorkspace(workspace: Workspace): z.output<typeof workspaceSchema> {
  return {
    id: workspace.id,
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description,
    default_text_model: workspace.defaultTextModel,
    default_image_model: workspace.defaultImageModel,
    default_provider_sort: workspace.defaultProviderSort,
    default_provider_preferences: drawDefaultPreferences(workspace.defaultPreferences),
    default_plugins: drawDefaultPlugins(workspace.defaultPlugins),
    is_observability_io_logging_enabled: workspace.logsContent,
    io_logging_sampling_rate: workspace.logsContentPpm / PPM,
    io_logging_api_key_ids: workspace.logsContentOfKeyIds && [...workspace.logsContentOfKeyIds],
    io_logging_api_key_hashes: workspace.logsContentOfKeyHashes && [...workspace.logsContentOfKeyHashes],
    is_observability_broadcast_enabled: workspace.broadcasts,
    is_data_discount_logging_enabled: workspace.logsForDiscount,
    include_byok_in_budgets: workspace.includeByokInBudgets,
    default_guardrail_id: workspace.defaultGuardrailId,
    created_at: drawTime(workspace.createdAtMs),
    updated_at: workspace.updatedAtMs === null ? null : drawTime(workspace.updatedAtMs),
    created_by: workspace.createdBy,
  };
}

/** What an audit event calls a workspace, however the path named it. */
export function subjectOf({ id }: Pick<Workspace, 'id'>, below = ''): string {
  return `/workspaces/${id}${below}`;
}
