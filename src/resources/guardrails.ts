import { z } from 'zod';
import { flag, money, nullable, text, textOf, time } from './columns.ts';
import { NO_RULES, rulesColumn, shownRulesShape } from './guardrail-rules.ts';
import { defineResource, member, type PatchOf, type RowOf } from './resource.ts';
import { LIMIT_USD_MAX, limitResetSchema } from './shapes.ts';

const NAME_CHARS_MAX = 200;
const DESCRIPTION_CHARS_MAX = 1_000;

const name = z.string().min(1).max(NAME_CHARS_MAX);

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
  rules: member(rulesColumn, { initial: NO_RULES }),
  ...shownRulesShape,
  created_at_ms: member(time, { shown: z.iso.datetime() }),
  /** Null until the first change. */
  updated_at_ms: member(nullable(time), { initial: null, shown: z.iso.datetime().nullable() }),
});

export type GuardrailRow = RowOf<typeof guardrailResource>;
export type GuardrailPatch = PatchOf<typeof guardrailResource>;
