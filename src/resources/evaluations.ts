import { z } from 'zod';

const ID_CHARS_MAX = 128;
const PROMPT_CHARS_MAX = 4_000_000;
const MESSAGES_MAX = 1_000;
const TOOLS_MAX = 128;
const OUTPUT_TOKENS_MAX = 1_000_000;
const ACCEPTED_MAX = 100;
const ACCEPTED_CHARS_MAX = 100_000;
const CHECKS_MAX = 10;
const CALLS_MAX = 32;
const PATTERN_CHARS_MAX = 1_000;
const LABELS_MAX = 26;
const LABEL_CHARS_MAX = 40;
const WEIGHT_MAX = 100;
const TAGS_MAX = 10;
const TAG_CHARS_MAX = 60;
const MODELS_MAX = 20;
const SLUG_CHARS_MAX = 256;
const REPEATS_MAX = 10;
const CONCURRENCY_MAX = 16;
const RUBRIC_CHARS_MAX = 8_000;
const SCALE_MAX = 10;
const NAME_CHARS_MAX = 100;
const COST_USD_MAX = 1_000_000;
const LICENSE_CHARS_MAX = 200;
const CITATION_CHARS_MAX = 2_000;
/** Of one dataset. */
export const ITEMS_MAX = 50_000;
export const DATASET_BYTES_MAX = 104_857_600;

const accepted = z.string().max(ACCEPTED_CHARS_MAX);
const name = z.string().min(1).max(ID_CHARS_MAX);

const toolCallsSchema = z.strictObject({
  tool_calls: z.array(z.strictObject({ name, arguments: z.record(z.string(), z.json()).optional() })).max(CALLS_MAX),
});
export type ExpectedCalls = z.output<typeof toolCallsSchema>['tool_calls'];

const COMMAND_CHARS_MAX = 20_000;
const COMMAND_S_MAX = 600;

const ofText = (type: 'exact' | 'normalized' | 'contains') => z.strictObject({ type: z.literal(type) });

const checkSchema = z.discriminatedUnion('type', [
  ofText('exact'),
  ofText('normalized'),
  ofText('contains'),
  z.strictObject({ type: z.literal('regex'), pattern: z.string().min(1).max(PATTERN_CHARS_MAX) }),
  z.strictObject({ type: z.literal('number'), tolerance: z.number().min(0).optional() }),
  z.strictObject({
    type: z.literal('choice'),
    labels: z.array(z.string().min(1).max(LABEL_CHARS_MAX)).min(2).max(LABELS_MAX).optional(),
  }),
  z.strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.json()) }),
  z.strictObject({ type: z.literal('json_equal') }),
  z.strictObject({ type: z.literal('tool_call') }),
  z.strictObject({
    type: z.literal('command'),
    command: z.string().min(1).max(COMMAND_CHARS_MAX),
    timeout_s: z.int().min(1).max(COMMAND_S_MAX).optional(),
  }),
  z.strictObject({ type: z.literal('judge') }),
]);
export type Check = z.output<typeof checkSchema>;

/** One line of a dataset. */
export const datasetItemSchema = z
  .strictObject({
    id: name.optional(),
    messages: z.array(z.record(z.string(), z.json())).min(1).max(MESSAGES_MAX).optional(),
    prompt: z.string().min(1).max(PROMPT_CHARS_MAX).optional(),
    tools: z.array(z.record(z.string(), z.json())).max(TOOLS_MAX).optional(),
    response_format: z.record(z.string(), z.json()).optional(),
    max_tokens: z.int().min(1).max(OUTPUT_TOKENS_MAX).optional(),
    temperature: z.number().min(0).max(2).optional(),
    expected: z.json().optional(),
    checks: z.array(checkSchema).min(1).max(CHECKS_MAX).optional(),
    weight: z.number().min(0).max(WEIGHT_MAX).optional(),
    tags: z.array(z.string().min(1).max(TAG_CHARS_MAX)).max(TAGS_MAX).optional(),
    group: name.optional(),
  })
  .refine(({ messages, prompt }) => (messages === undefined) !== (prompt === undefined), {
    error: 'must have either messages or prompt',
  });
export type DatasetLine = z.output<typeof datasetItemSchema>;

/** What kind of answer is expected. `undefined`: none of them. */
export function acceptedTexts(expected: unknown): readonly string[] | undefined {
  if (typeof expected === 'string') return [expected];
  const all = z.array(accepted).min(1).max(ACCEPTED_MAX).safeParse(expected);
  return all.success ? all.data : undefined;
}

export function expectedCalls(expected: unknown): ExpectedCalls | undefined {
  const calls = toolCallsSchema.safeParse(expected);
  return calls.success ? calls.data.tool_calls : undefined;
}

const datasetNameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, {
  error: 'must be of lower-case letters, digits and hyphens, at most 64, and begin with no hyphen',
});
export const datasetShape = {
  name: datasetNameSchema,
  license: z.string().max(LICENSE_CHARS_MAX).optional(),
  citation: z.string().max(CITATION_CHARS_MAX).optional(),
};

const slug = z.string().min(1).max(SLUG_CHARS_MAX);
const evaluatedModelSchema = z.strictObject({
  model: slug.describe('A slug, with a variant where one is meant.'),
  preset: z.string().min(1).max(ID_CHARS_MAX).optional(),
  provider: z.record(z.string(), z.json()).optional().describe('As in a request.'),
  reasoning: z.record(z.string(), z.json()).optional().describe('As in a request.'),
});
export type EvaluatedModel = z.output<typeof evaluatedModelSchema>;

const judgeSchema = z
  .strictObject({
    model: slug,
    rubric: z.string().min(1).max(RUBRIC_CHARS_MAX).describe('What makes a response good.'),
    scale: z.int().min(2).max(SCALE_MAX).describe('Levels of the score, low to high. Default 5.'),
    reference_model: slug
      .optional()
      .describe('Compares each response with the one of this model, in both orders, in place of a scale.'),
    allow_self_judge: z.boolean().describe('Lets the judge be one of the models. The results say so.'),
  })
  .meta({ id: 'EvaluationJudge' });
const newJudgeSchema = judgeSchema.partial({ scale: true, allow_self_judge: true }).meta({ id: 'NewEvaluationJudge' });

/** What a run goes by, whatever is changed later. */
export const runSettingsSchema = z.strictObject({
  models: z.array(evaluatedModelSchema).min(1).max(MODELS_MAX),
  repeats: z.int().min(1).max(REPEATS_MAX),
  sample: z.int().min(1).max(ITEMS_MAX).nullable(),
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  concurrency: z.int().min(1).max(CONCURRENCY_MAX),
  max_tokens: z.int().min(1).max(OUTPUT_TOKENS_MAX),
  cache: z.boolean(),
  judge: judgeSchema.nullable(),
});
export type RunSettings = z.output<typeof runSettingsSchema>;

export const runNameSchema = z.string().min(1).max(NAME_CHARS_MAX);
export const maxCostSchema = z
  .number()
  .positive()
  .max(COST_USD_MAX)
  .describe('The most that the run may cost. It pauses before a call that could exceed it.');

/** A run as a body has it. */
export const newRunShape = {
  dataset_id: z.uuid(),
  models: z
    .array(z.union([slug.transform((model) => ({ model })), evaluatedModelSchema]))
    .min(1)
    .max(MODELS_MAX),
  payer_key_hash: z.string().regex(/^[0-9a-f]{64}$/, 'must be the hash of a key: 64 hexadecimal digits'),
  max_cost_usd: maxCostSchema,
  repeats: runSettingsSchema.shape.repeats.optional().describe('Default 1.'),
  sample: runSettingsSchema.shape.sample.optional().describe('So many items, chosen by the seed. Default: all.'),
  seed: runSettingsSchema.shape.seed.optional().describe('Default 0.'),
  concurrency: runSettingsSchema.shape.concurrency.optional().describe('Default 4.'),
  max_tokens: runSettingsSchema.shape.max_tokens
    .optional()
    .describe('Of a response, where the item sets none. Default 4096.'),
  cache: z.boolean().optional().describe('Whether responses may come from the response cache. Default: no.'),
  judge: newJudgeSchema.nullable().optional(),
  name: runNameSchema.nullable().optional(),
  dry_run: z.boolean().optional().describe('Estimates the run, and starts none.'),
};

type NewSettings = {
  readonly [Name in keyof RunSettings]?: Name extends 'judge'
    ? z.output<typeof newJudgeSchema> | null | undefined
    : RunSettings[Name] | undefined;
} & Pick<RunSettings, 'models'>;

/** With defaults where a body says nothing. */
export function runSettingsOf({ judge = null, ...given }: NewSettings): RunSettings {
  const { models, repeats = 1, sample = null, seed = 0, concurrency = 4, max_tokens = 4_096, cache = false } = given;
  return {
    models,
    repeats,
    sample,
    seed,
    concurrency,
    max_tokens,
    cache,
    judge: judge && { ...judge, scale: judge.scale ?? 5, allow_self_judge: judge.allow_self_judge ?? false },
  };
}

export const RUN_STATES = ['queued', 'running', 'paused', 'done', 'failed', 'cancelled'] as const;
export type EvaluationState = (typeof RUN_STATES)[number];
/** `upstream_error` and `unjudged` have no score. */
export const VERDICTS = [
  'pass',
  'partial',
  'fail',
  'refused',
  'length',
  'invalid',
  'upstream_error',
  'unjudged',
] as const;
export type ItemVerdict = (typeof VERDICTS)[number];
