import { z } from 'zod';
import type { Guardrail } from '../../../accounts/guardrails.ts';
import { KEY_LIMIT_USD_MAX } from '../../../accounts/keys.ts';
import { mapGroups, type GuardrailRules, type ZeroRetention } from '../../../canonical/guardrail-rules.ts';
import { drawTime, drawUsd, limitResetSchema } from '../keys/key-shape.ts';
import {
  builtinFiltersSchema,
  contentFiltersSchema,
  drawBuiltinFilters,
  drawContentFilters,
  drawnBuiltinFiltersSchema,
  drawnContentFiltersSchema,
} from './filters.ts';

const NAME_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 1_000;
const NAMES_MAX = 1_000;
const SLUG_CHARS_MAX = 256;

/** The path of one guardrail. What cannot be an id is unknown: 404. */
export const guardrailPathSchema = z.strictObject({ id: z.string().describe('The id of a guardrail.') });

export const nameSchema = z.string().min(1).max(NAME_CHARS_MAX);

/** An empty list would allow nobody, or ignore nobody, by mistake. @source areas.md 6 "Fields" */
const names = z.array(z.string().min(1).max(SLUG_CHARS_MAX)).min(1).max(NAMES_MAX).nullable();
const permission = z.boolean().nullable();
const allGroups = permission.meta({ deprecated: true, description: 'Of all vendors whose own member is left out.' });

/** What may be set beside the name. @source areas.md 6 "Fields" */
export const rulesShape = {
  description: z.string().max(DESCRIPTION_CHARS_MAX).nullable().optional(),
  limit_usd: z
    .number()
    .min(0)
    .max(KEY_LIMIT_USD_MAX)
    .nullable()
    .optional()
    .describe('The most that each key and each member may spend, USD.'),
  reset_interval: limitResetSchema.optional(),
  include_byok_in_budgets: z.boolean().optional(),
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

/** @source areas.md 6 "Fields"; reference shapes, `Guardrail` */
export const guardrailSchema = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    description: z.string().nullable(),
    workspace_id: z.string().nullable(),
    limit_usd: z.number().nullable(),
    reset_interval: limitResetSchema,
    include_byok_in_budgets: z.boolean(),
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
    content_filters: drawnContentFiltersSchema,
    content_filter_builtins: drawnBuiltinFiltersSchema,
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Guardrail' });

export function drawGuardrail(guardrail: Guardrail): z.output<typeof guardrailSchema> {
  const { rules } = guardrail;
  return {
    id: guardrail.id,
    name: guardrail.name,
    description: guardrail.description,
    workspace_id: guardrail.workspaceId,
    limit_usd: drawUsd(guardrail.limitNanoUsd),
    reset_interval: guardrail.resetInterval,
    include_byok_in_budgets: guardrail.includeByokInBudgets,
    ...drawLists(rules),
    ...drawZeroRetention(rules.zeroRetention),
    enable_paid_model_training: rules.paidTraining,
    enable_free_model_training: rules.freeTraining,
    enable_free_model_publication: rules.freePublication,
    content_filters: drawContentFilters(rules.contentFilters),
    content_filter_builtins: drawBuiltinFilters(rules.builtinFilters),
    created_at: drawTime(guardrail.createdAtMs),
    updated_at: guardrail.updatedAtMs === null ? null : drawTime(guardrail.updatedAtMs),
  };
}

function drawLists({ allowedProviders, ignoredProviders, allowedModels, ignoredModels }: GuardrailRules) {
  return {
    allowed_providers: allowedProviders && [...allowedProviders],
    ignored_providers: ignoredProviders && [...ignoredProviders],
    allowed_models: allowedModels && [...allowedModels],
    ignored_models: ignoredModels && [...ignoredModels],
  };
}

function drawZeroRetention(groups: ZeroRetention<boolean | null>) {
  const values: (boolean | null)[] = [];
  mapGroups(groups, (value) => values.push(value));
  return {
    enforce_zdr_anthropic: groups.anthropic,
    enforce_zdr_openai: groups.openai,
    enforce_zdr_google: groups.google,
    enforce_zdr_xai: groups.xai,
    enforce_zdr_other: groups.other,
    enforce_zdr: values.every((value) => value === null) ? null : values.every((value) => value === true),
  };
}
