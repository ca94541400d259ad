import { z } from 'zod';
import { nextTime, parseCron } from '../lib/cron.ts';
import { isTimeZone } from '../lib/time-zone.ts';

const TOOLS_MAX = 32;
const PRESET_CHARS_MAX = 64;
const TYPE_CHARS_MAX = 128;
const RULES_MAX = 100;
const PATTERN_CHARS_MAX = 500;
const BUDGET_USD_MAX = 1_000_000;
const STEPS_MAX = 200;
const MINUTES_MAX = 1_440;
const RUNS_MAX = 4;
const SCHEDULES_MAX = 10;
const CRON_CHARS_MAX = 100;
const ZONE_CHARS_MAX = 64;
const PROMPT_CHARS_MAX = 20_000;
export const INTERN_MEMORY_BYTES_MAX = 262_144;
const MEMORY_BYTES = 32_768;

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

const scheduleSchema = z
  .strictObject({
    id: z
      .string()
      .regex(/^[\w-]{1,32}$/, { error: 'must have 1 to 32 letters, digits, - or _' })
      .describe('Its name among those of the intern.'),
    cron: z
      .string()
      .max(CRON_CHARS_MAX)
      .superRefine((text, context) => {
        const cron = parseCron(text);
        const message = typeof cron === 'string' ? cron : nextTime(cron, 'UTC', 0) === undefined && 'never comes';
        if (typeof message === 'string') context.addIssue({ code: 'custom', message });
      })
      .describe('Minute, hour, day of the month, month, day of the week: `30 8 * * mon-fri`.'),
    tz: z
      .string()
      .max(ZONE_CHARS_MAX)
      .refine(isTimeZone, 'must be a time zone such as Europe/Vienna')
      .default('UTC')
      .describe('Whose clock counts.'),
    prompt: z.string().min(1).max(PROMPT_CHARS_MAX).describe('The message that begins a run, in a session of its own.'),
    enabled: z.boolean().default(true),
    catch_up: z
      .enum(['none', 'once'])
      .default('none')
      .describe('After times that were missed while the gateway or the intern was stopped: no run, or one.'),
  })
  .meta({ id: 'InternSchedule' });
export type InternSchedule = z.output<typeof scheduleSchema>;

const schedulesSchema = z
  .array(scheduleSchema)
  .max(SCHEDULES_MAX)
  .superRefine((schedules, context) => {
    const ids = schedules.map(({ id }) => id);
    for (const [at, id] of ids.entries())
      if (ids.indexOf(id) < at)
        context.addIssue({ code: 'custom', path: [at, 'id'], message: 'is the id of another one' });
  });

const memorySchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe('The model keeps notes from run to run, by the tool `service:memory`.'),
    max_bytes: z.int().min(1).max(INTERN_MEMORY_BYTES_MAX).default(MEMORY_BYTES),
  })
  .meta({ id: 'InternMemorySettings' });

const presetSchema = z.string().min(1).max(PRESET_CHARS_MAX).nullable();

const attachedVaultSchema = z.string().nullable().describe('The intern whose vault counts after its own; null: none.');

/** What of an agent is versioned beside its instructions and its model. */
export const internSettingsSchema = z.strictObject({
  preset: presetSchema,
  attached_vault_id: attachedVaultSchema,
  tools: z.array(toolSchema).max(TOOLS_MAX),
  budget: budgetSchema,
  limits: limitsSchema,
  approval: approvalSchema,
  memory: memorySchema,
  schedules: schedulesSchema,
});
export type InternSettings = z.output<typeof internSettingsSchema>;

/** As a body has them: each is replaced as a whole. */
export const internSettingsShape = {
  preset: presetSchema
    .optional()
    .describe('The slug of a preset of the workspace, which gives what the intern itself leaves open.'),
  tools: internSettingsSchema.shape.tools.optional().describe('Server tools, as in a request.'),
  budget: budgetSchema.optional(),
  limits: limitsSchema.optional(),
  approval: approvalSchema.optional(),
  memory: memorySchema.optional(),
  schedules: schedulesSchema.optional().describe('When it runs by itself.'),
};

export const DEFAULT_INTERN_SETTINGS: InternSettings = internSettingsSchema.parse({
  preset: null,
  attached_vault_id: null,
  tools: [],
  budget: {},
  limits: {},
  approval: {},
  memory: {},
  schedules: [],
});

/** As rows have them: those of earlier versions have neither notes nor schedules, and no preset. */
export const storedInternSettingsSchema = internSettingsSchema.extend({
  preset: presetSchema.default(null),
  attached_vault_id: attachedVaultSchema.default(null),
  memory: memorySchema.prefault({ enabled: false }),
  schedules: schedulesSchema.default([]),
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
