import { z } from 'zod';
import { flag, integer, json, money, nullable, share, text, textOf, time } from './columns.ts';
import { defaultPreferences, defaultPreferencesSchema } from './default-preferences.ts';
import { defineResource, member, type NewOf, type PatchOf, type RowOf } from './resource.ts';

const NAME_CHARS_MAX = 100;
const MODEL_CHARS_MAX = 256;
const KEY_HASH_CHARS_MAX = 128;
const PROMPT_CHARS_MAX = 8_000;
const DIMENSIONS_MAX = 8;
const VALUES_MAX = 40;
const DESCRIPTION_CHARS_MAX = 500;
const VALUE_CHARS_MAX = 60;
const MEANING_CHARS_MAX = 300;
const FILTERED_MAX = 100;
const TURNS_MAX = 1_000;
const USD_MAX = 10_000;
const TENTH_PPM = 100_000;
const DOLLAR_NANO_USD = 1_000_000_000;
/** What fits none of the other values of its dimension. */
const OTHER_VALUE = 'other';

export const TEMPLATES = [
  'department',
  'audience',
  'engineering_work',
  'agent_complexity',
  'capitalizable_expense',
] as const;
export type Template = (typeof TEMPLATES)[number];

const dimensionName = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,39}$/, 'must begin with a-z and have at most 40 of a-z 0-9 _');
const value = z.strictObject({
  value: z.string().min(1).max(VALUE_CHARS_MAX),
  description: z.string().max(MEANING_CHARS_MAX).optional(),
});
const dimension = z.strictObject({
  name: dimensionName,
  description: z.string().max(DESCRIPTION_CHARS_MAX).optional(),
  values: z.array(value).min(2).max(VALUES_MAX),
});
export type ClassifierDimension = z.output<typeof dimension>;

/** What is sorted by. @spec classifier-2 */
const dimensionsSchema = z
  .array(dimension)
  .min(1)
  .max(DIMENSIONS_MAX)
  .superRefine((dimensions, context) => {
    for (const [index, { name, values }] of dimensions.entries()) {
      if (dimensions.findIndex((each) => each.name === name) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is the name of another dimension' });
      const named = values.map((each) => each.value);
      const twice = named.findIndex((each, at) => named.indexOf(each) < at);
      if (twice >= 0)
        context.addIssue({ code: 'custom', path: [index, 'values', twice, 'value'], message: 'is there twice' });
    }
  });

const names = z.array(z.string().min(1).max(MODEL_CHARS_MAX)).min(1).max(FILTERED_MAX);
const filtersSchema = z.strictObject({
  api_key_hashes: names.optional(),
  models: names.optional().describe('Of the response; `acme/*` for all that begin so.'),
  min_turns: z.int().min(1).max(TURNS_MAX).optional().describe('Turns of the request, at least.'),
  finish_reasons: names.optional(),
});
export type ClassifierFilters = z.output<typeof filtersSchema>;

const template = z.enum(TEMPLATES);

/** Sorts generations of a workspace by their conversation. @spec classifier-1 */
export const classifierResource = defineResource('Classifier', {
  id: member(text, { shown: z.uuid() }),
  workspace_id: member(text, {
    shown: z.uuid(),
    create: z.uuid().optional().describe('Whose generations it sorts. Default: the default workspace.'),
  }),
  name: member(text, {
    shown: z.string(),
    create: z.string().min(1).max(NAME_CHARS_MAX),
    update: z.string().min(1).max(NAME_CHARS_MAX),
  }),
  model: member(text, {
    shown: z.string(),
    create: z.string().min(1).max(MODEL_CHARS_MAX).describe('The model that reads conversations.'),
    update: z.string().min(1).max(MODEL_CHARS_MAX),
  }),
  provider: member(defaultPreferences, { initial: null, set: defaultPreferencesSchema }),
  payer_key_hash: member(text, {
    shown: z.string(),
    create: z
      .string()
      .min(1)
      .max(KEY_HASH_CHARS_MAX)
      .describe('The hash of a normal key of the workspace, which its calls are charged to.'),
    update: z.string().min(1).max(KEY_HASH_CHARS_MAX),
  }),
  template: member(nullable(textOf<Template>()), {
    initial: null,
    shown: template.nullable(),
    create: template.nullable().optional().describe('Fills in `prompt` and `dimensions` where they are left out.'),
  }),
  prompt: member(text, {
    initial: '',
    shown: z.string(),
    set: z.string().max(PROMPT_CHARS_MAX).describe('Instructions for the model beside the dimensions.'),
  }),
  dimensions: member(json(z.array(dimension)), {
    shown: z.array(dimension),
    create: dimensionsSchema
      .optional()
      .describe('What is sorted by, with the values of each; `other` is added where it is missing.'),
    update: dimensionsSchema,
  }),
  sampling_ppm: member(share, {
    as: 'sampling_rate',
    initial: TENTH_PPM,
    shown: z.number(),
    set: z.number().min(0).max(1).describe('Of the sessions, which are sorted as a whole or not at all. Default: 0.1.'),
  }),
  filters: member(nullable(json(filtersSchema)), {
    initial: null,
    shown: filtersSchema.nullable(),
    set: filtersSchema.nullable().optional().describe('Only generations that fit all of them.'),
  }),
  daily_cost_limit_nano_usd: member(money, {
    as: 'daily_cost_limit_usd',
    initial: DOLLAR_NANO_USD,
    shown: z.number(),
    set: z.number().min(0).max(USD_MAX).describe('Beyond it nothing is sorted until 00:00 UTC. Default: 1.'),
  }),
  enabled: member(flag, {
    initial: false,
    shown: z.boolean(),
    set: z.boolean().describe('One classifier of a workspace may be. Default: false.'),
  }),
  version: member(integer, {
    initial: 1,
    shown: z.int().describe('Counted up with each change of the prompt, the dimensions or the model.'),
  }),
  today: z
    .strictObject({
      cost: z.number().describe('USD.'),
      classified: z.int(),
      failed: z.int(),
      dropped: z.int().describe('Left out, because too many waited, or the cost limit was reached.'),
    })
    .describe('Since 00:00 UTC.'),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  updated_at_ms: member(time, { shown: z.iso.datetime() }),
});

export type ClassifierRow = RowOf<typeof classifierResource>;
export type NewClassifier = NewOf<typeof classifierResource>;
export type ClassifierPatch = PatchOf<typeof classifierResource>;

/** With the value for what fits no other. */
export function withOther(dimensions: readonly ClassifierDimension[]): ClassifierDimension[] {
  return dimensions.map((each) =>
    each.values.some(({ value: named }) => named === OTHER_VALUE)
      ? each
      : { ...each, values: [...each.values, { value: OTHER_VALUE }] },
  );
}
