import { z } from 'zod';
import { serializeTime } from '../../../resources/columns.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { guardrailPathSchema } from './guardrail-shape.ts';
import { touchRow } from '../workspaces/touch-workspace.ts';

const DAYS = 7;
const DAYS_MAX = 31;

/** @spec filter-23 */
export const listGuardrailMatches = defineRoute({
  method: 'GET',
  path: '/guardrails/{id}/matches',
  scope: 'management',
  readsRecords: true,
  operationId: 'listGuardrailMatches',
  tag: 'Guardrails',
  summary: 'What the content filters of a guardrail found, by day (UTC), from the routes that were kept',
  params: guardrailPathSchema,
  query: z.strictObject({
    days: z.coerce
      .number()
      .int()
      .min(1)
      .max(DAYS_MAX)
      .optional()
      .describe('Default 7, with today. Routes are kept for `observability.route_log.days`.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The newest day first. At most 200,000 routes are looked at, and 20,000 matches counted.',
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              date: z.iso.date(),
              pattern: z
                .string()
                .nullable()
                .describe(
                  'The label of the filter, or the pattern of a detector. Null: a filter was not searched for in time.',
                ),
              action: z
                .string()
                .describe('The strictest action of the guardrail there: flagged, redacted, blocked, passed.'),
              matches: z.int().describe('Requests and responses with a match.'),
            })
            .meta({ id: 'GuardrailMatch' }),
        ),
        counted_since: z.iso
          .datetime()
          .describe('Nothing before was counted: its routes were deleted, or the look ended at its bound.'),
        looked_at: z.int(),
      }),
    },
  },
  errors: [400, 404],
  users: async ({ params, services }) => touchRow(await services.guardrails.get(params.id)),
  async handle({ params, query, services }) {
    const { id } = await services.guardrails.get(params.id);
    const { rows, sinceMs, lookedAt } = await services.countMatches(id, query.days ?? DAYS);
    return {
      status: 200,
      body: { data: rows.map((row) => ({ ...row })), counted_since: serializeTime(sinceMs), looked_at: lookedAt },
    };
  },
});
