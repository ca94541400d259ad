import { z } from 'zod';
import { BUILTIN_FILTER_SLUGS, type GuardrailRules } from '../canonical/guardrail-rules.ts';
import { flag, json, money, nullable, text, textOf, time, type Column } from './columns.ts';
import {
  builtinFiltersSchema,
  contentFiltersSchema,
  serializedBuiltinFiltersSchema,
  serializedContentFiltersSchema,
} from './content-filters.ts';
import { defineResource, member, type PatchOf, type RowOf } from './resource.ts';
import { LIMIT_USD_MAX, limitResetSchema } from './shapes.ts';

const NAME_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 1_000;
const NAMES_MAX = 1_000;
const SLUG_CHARS_MAX = 256;

const name = z.string().min(1).max(NAME_CHARS_MAX);

/** An empty list would allow nothing, or ignore nothing, by mistake. @spec guardrail-1 */
const names = z.array(z.string().min(1).max(SLUG_CHARS_MAX)).min(1).max(NAMES_MAX).nullable();
const permission = z.boolean().nullable();
const allGroups = permission.meta({ deprecated: true, description: 'Of all vendors whose own field is left out.' });

/** Rules as they are sent. @spec guardrail-1 */
export const rulesShape = {
  allowed_providers: names.optional(),
  ignored_providers: names.optional(),
  allowed_models: names.optional().describe('Slugs or permanent names; kept as permanent names.'),
  ignored_models: names.optional().describe('Slugs or permanent names; kept as permanent names.'),
  enforce_zdr_anthropic: permission.optional(),
  enforce_zdr_openai: permission.optional(),
  enforce_zdr_google: permission.optional(),
  enforce_zdr_xai: permission.optional(),
  enforce_zdr_other: permission.optional(),
  enforce_zdr: allGroups.optional(),
  enable_paid_model_training: permission.optional(),
  enable_free_model_training: permission.optional(),
  enable_free_model_publication: permission.optional(),
  content_filters: contentFiltersSchema.optional(),
  content_filter_builtins: builtinFiltersSchema.optional(),
};

const storedNames = z.array(z.string()).readonly().nullable();
const action = z.enum(['redact', 'block', 'flag']);

/** A guardrail that cannot be read must not let everything through: reading it throws. */
const rules: Column<string, GuardrailRules> = json(
  z.strictObject({
    allowedProviders: storedNames,
    ignoredProviders: storedNames,
    allowedModels: storedNames,
    ignoredModels: storedNames,
    zeroRetention: z.strictObject({
      anthropic: permission,
      openai: permission,
      google: permission,
      xai: permission,
      other: permission,
    }),
    paidTraining: permission,
    freeTraining: permission,
    freePublication: permission,
    contentFilters: z
      .array(z.strictObject({ pattern: z.string(), action, label: z.string().nullable(), scanOutput: z.boolean() }))
      .readonly()
      .nullable(),
    builtinFilters: z
      .array(
        z.strictObject({
          slug: z.enum(BUILTIN_FILTER_SLUGS),
          action,
          scanScope: z.enum(['user_only', 'all_messages']),
          scanOutput: z.boolean(),
        }),
      )
      .readonly()
      .nullable(),
  }),
);

/** @spec guardrail-1; `@openrouter/sdk` 1.3.19, `Guardrail` */
export const guardrailResource = defineResource('Guardrail', {
  id: member(text, { shown: z.uuid() }),
  name: member(text, { shown: z.string(), create: name, update: name }),
  description: member(nullable(text), {
    initial: null,
    shown: z.string().nullable(),
    set: z.string().max(DESCRIPTION_CHARS_MAX).nullable(),
  }),
  /** It only files the guardrail. */
  workspace_id: member(nullable(text), {
    shown: z.string().nullable(),
    create: z.uuid().optional().describe('Where it is filed. Default: the default workspace.'),
  }),
  /** Of each key or member by itself. */
  limit_nano_usd: member(nullable(money), {
    as: 'limit_usd',
    initial: null,
    shown: z.number().nullable(),
    set: z
      .number()
      .min(0)
      .max(LIMIT_USD_MAX)
      .nullable()
      .optional()
      .describe('The most that each key and each member may spend, USD.'),
  }),
  reset_interval: member(nullable(textOf<'daily' | 'weekly' | 'monthly'>()), { initial: null, set: limitResetSchema }),
  include_byok_in_budgets: member(flag, { initial: false, set: z.boolean() }),
  rules: member(rules, {}),
  allowed_providers: z.array(z.string()).nullable(),
  ignored_providers: z.array(z.string()).nullable(),
  allowed_models: z.array(z.string()).nullable(),
  ignored_models: z.array(z.string()).nullable(),
  enforce_zdr_anthropic: permission,
  enforce_zdr_openai: permission,
  enforce_zdr_google: permission,
  enforce_zdr_xai: permission,
  enforce_zdr_other: permission,
  enforce_zdr: permission.meta({ deprecated: true, description: 'Whether all vendors are meant.' }),
  enable_paid_model_training: permission,
  enable_free_model_training: permission,
  enable_free_model_publication: permission,
  content_filters: serializedContentFiltersSchema,
  content_filter_builtins: serializedBuiltinFiltersSchema,
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  /** Null until the first change. */
  updated_at_ms: member(nullable(time), { initial: null, shown: z.iso.datetime().nullable() }),
});

export type GuardrailRow = RowOf<typeof guardrailResource>;
export type GuardrailPatch = PatchOf<typeof guardrailResource>;
