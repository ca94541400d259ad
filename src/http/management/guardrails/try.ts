import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import { guardrailPathSchema } from './guardrail-shape.ts';
import { warningsSchema } from './warn-of-filters.ts';

const TEXT_CHARS_MAX = 1_000_000;

const bodySchema = z
  .strictObject({
    text: z.string().min(1).max(TEXT_CHARS_MAX),
    side: z
      .enum(['request', 'answer'])
      .optional()
      .describe('Where the text stands; `answer`: only filters with `scan_output` look at it. Default: `request`.'),
    role: z
      .enum(['user', 'other'])
      .optional()
      .describe('The role of the text, for a filter whose `scan_scope` is `user_only`. Default: `user`.'),
  })
  .meta({ id: 'TestGuardrailRequest' });

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
  async handle({ params, body, services }) {
    const { rules } = await services.guardrails.get(params.id);
    const { text, side = 'request', role = 'user' } = body;
    const {
      outcome,
      text: left,
      findings,
      late,
      warnings,
    } = await services.tryFilters(rules, { text, side, byUser: role === 'user' });
    const found = findings.map(({ filter, action, patterns }) => ({ filter, action, patterns: [...patterns] }));
    return {
      status: 200,
      body: { data: { outcome, text: left, findings: found, late: [...late], warnings: [...warnings] } },
    };
  },
});
