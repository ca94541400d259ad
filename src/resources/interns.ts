import { z } from 'zod';

const TOOLS_MAX = 32;
const TYPE_CHARS_MAX = 128;
const RULES_MAX = 100;
const PATTERN_CHARS_MAX = 500;
const BUDGET_USD_MAX = 1_000_000;
const STEPS_MAX = 200;
const MINUTES_MAX = 1_440;
const RUNS_MAX = 4;

const positiveUsd = z.number().positive().max(BUDGET_USD_MAX);

const toolSchema = z.strictObject({
  type: z
    .string()
    .max(TYPE_CHARS_MAX)
    .regex(/^service:[a-z_]+$/, { error: 'must be the type of a server tool: service:web_search' }),
  parameters: z.record(z.string(), z.json()).optional(),
});

const budgetSchema = z
  .strictObject({
    limit_usd: positiveUsd.default(5).describe('The most that all runs of an interval may cost.'),
    interval: z.enum(['daily', 'weekly', 'monthly', 'lifetime']).default('daily'),
    per_run_usd: positiveUsd.default(1).describe('The most that one run may cost.'),
  })
  .meta({ id: 'InternBudget' });

const limitsSchema = z
  .strictObject({
    max_steps: z.int().min(1).max(STEPS_MAX).default(50).describe('Calls of the model and of tools in one run.'),
    max_minutes: z.int().min(1).max(MINUTES_MAX).default(30).describe('Time that one run works, waits not included.'),
    max_concurrent_runs: z.int().min(1).max(RUNS_MAX).default(1),
  })
  .meta({ id: 'InternLimits' });

const approvalSchema = z
  .strictObject({
    mode: z
      .enum(['manual', 'self-drive'])
      .default('manual')
      .describe('`self-drive` runs what would wait for an approval; the configuration must allow it.'),
    rules: z
      .array(
        z.strictObject({
          tool: z.string().min(1).max(TYPE_CHARS_MAX).describe('The name of the function, or the type of the tool.'),
          pattern: z
            .string()
            .min(1)
            .max(PATTERN_CHARS_MAX)
            .optional()
            .describe('A text in the arguments as JSON, with `*` for any characters. Absent: any arguments.'),
          decision: z.enum(['allow', 'ask', 'deny']),
        }),
      )
      .max(RULES_MAX)
      .default([])
      .describe('The first rule that fits decides.'),
  })
  .meta({ id: 'InternApproval' });

/** What of an agent is versioned beside its instructions and its model. */
export const internSettingsSchema = z.strictObject({
  tools: z.array(toolSchema).max(TOOLS_MAX),
  budget: budgetSchema,
  limits: limitsSchema,
  approval: approvalSchema,
});
export type InternSettings = z.output<typeof internSettingsSchema>;

/** As a body has them: each is replaced as a whole. */
export const internSettingsShape = {
  tools: internSettingsSchema.shape.tools.optional().describe('Server tools, as in a request.'),
  budget: budgetSchema.optional(),
  limits: limitsSchema.optional(),
  approval: approvalSchema.optional(),
};

export const DEFAULT_INTERN_SETTINGS: InternSettings = internSettingsSchema.parse({
  tools: [],
  budget: {},
  limits: {},
  approval: {},
});

/** One call of the model, or of a tool. */
export const STEP_KINDS = ['model', 'tool'] as const;
export const STEP_STATES = ['planned', 'started', 'done', 'unknown'] as const;
export const INTERN_STATUSES = [
  'queued',
  'provisioning',
  'running',
  'failed',
  'stopped',
  'destroying',
  'destroy_failed',
] as const;
export const RUN_STATES = [
  'queued',
  'running',
  'waiting_input',
  'paused',
  'done',
  'failed',
  'cancelled',
  'expired',
] as const;
export const RUN_ENDINGS = ['stop', 'length', 'steps', 'time', 'budget'] as const;
export const INPUT_STATES = ['pending', 'answered', 'expired', 'superseded', 'cancelled'] as const;
export const DECISIONS = ['allow_once', 'allow_session', 'deny'] as const;
export type InternStatus = (typeof INTERN_STATUSES)[number];
export type RunEnding = (typeof RUN_ENDINGS)[number];
export type RunState = (typeof RUN_STATES)[number];
export type StepState = (typeof STEP_STATES)[number];
export type StepKind = (typeof STEP_KINDS)[number];
export type InputState = (typeof INPUT_STATES)[number];
export type Decision = (typeof DECISIONS)[number];
