import { z } from 'zod';
import type { GuardrailRules } from '../../../canonical/guardrail-rules.ts';
import { NO_RULES, parseRules, rulesShape } from '../../../resources/guardrail-rules.ts';
import { defineRoute, NOTHING, type ManagementServices } from '../route.ts';
import { touchRow } from '../workspaces/touch-workspace.ts';
import { guardrailPathSchema } from './guardrail-shape.ts';
import { warningsSchema } from './warn-of-filters.ts';

const TEXT_CHARS_MAX = 1_000_000;

const trialShape = {
  text: z.string().min(1).max(TEXT_CHARS_MAX),
  side: z
    .enum(['request', 'answer'])
    .optional()
    .describe('Where the text stands; `answer`: only filters with `scan_output` look at it. Default: `request`.'),
  role: z
    .enum(['user', 'other'])
    .optional()
    .describe('The role of the text, for a filter whose `scan_scope` is `user_only`. Default: `user`.'),
};
const bodySchema = z.strictObject(trialShape).meta({ id: 'TestGuardrailRequest' });
const unsavedSchema = z.strictObject({ ...trialShape, ...rulesShape }).meta({ id: 'TestRulesRequest' });
type Trial = z.output<typeof bodySchema>;

const resultSchema = z
  .strictObject({
    outcome: z.enum(['passed', 'flagged', 'redacted', 'blocked']),
    text: z.string().nullable().describe('As it would go on; null: it would not.'),
    findings: z.array(
      z.strictObject({
        filter: z.string(),
        action: z.enum(['redact', 'block', 'flag']),
        patterns: z.array(z.string()),
      }),
    ),
    late: z.array(z.string()).describe('Filters that were not searched for in time.'),
    warnings: warningsSchema,
  })
  .meta({ id: 'GuardrailTestResult' });

/** @spec filter-21 */
export const testGuardrail = defineRoute({
  method: 'POST',
  path: '/guardrails/{id}/test',
  scope: 'management',
  operationId: 'testGuardrail',
  tag: 'Guardrails',
  onlyReads: true,
  summary:
    'What the content filters of a guardrail, by themselves, would do to a text; nothing is sent, kept or changed',
  params: guardrailPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'What they found.', schema: z.strictObject({ data: resultSchema }) } },
  errors: [400, 404, 413],
  users: async ({ params, services }) => touchRow(await services.guardrails.get(params.id)),
  async handle({ params, body, services }) {
    const { rules } = await services.guardrails.get(params.id);
    return { status: 200, body: { data: await tryRules(rules, body, services) } };
  },
});

/** @spec filter-22 */
export const testRules = defineRoute({
  method: 'POST',
  path: '/guardrails/test',
  scope: 'management',
  operationId: 'testGuardrailRules',
  tag: 'Guardrails',
  onlyReads: true,
  summary: 'What the content filters of rules that are not stored would do to a text; nothing is sent, kept or changed',
  params: NOTHING,
  query: NOTHING,
  body: unsavedSchema,
  responses: { 200: { description: 'What they found.', schema: z.strictObject({ data: resultSchema }) } },
  errors: [400, 413],
  async handle({ body, services }) {
    const { text, side, role, ...sent } = body;
    const { zeroRetention, ...others } = await parseRules(sent, services);
    const rules = { ...NO_RULES, ...others, zeroRetention: { ...NO_RULES.zeroRetention, ...zeroRetention } };
    return { status: 200, body: { data: await tryRules(rules, { text, side, role }, services) } };
  },
});

async function tryRules(
  rules: GuardrailRules,
  { text, side = 'request', role = 'user' }: Trial,
  { tryFilters }: Pick<ManagementServices, 'tryFilters'>,
): Promise<z.output<typeof resultSchema>> {
  const { findings, late, warnings, ...found } = await tryFilters(rules, { text, side, byUser: role === 'user' });
  return {
    ...found,
    findings: findings.map(({ filter, action, patterns }) => ({ filter, action, patterns: [...patterns] })),
    late: [...late],
    warnings: [...warnings],
  };
}
