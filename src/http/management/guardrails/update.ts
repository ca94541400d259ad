import { z } from 'zod';
import { parseRules, rulesShape } from '../../../resources/guardrail-rules.ts';
import { guardrailResource } from '../../../resources/guardrails.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { serializeGuardrail, guardrailPathSchema, guardrailSchema } from './guardrail-shape.ts';
import { warnOfFilters, warningsSchema } from './warn-of-filters.ts';

const bodySchema = z
  .strictObject({ ...guardrailResource.updateShape, ...rulesShape })
  .meta({ id: 'UpdateGuardrailRequest' });

export const updateGuardrail = defineRoute({
  method: 'PATCH',
  path: '/guardrails/{id}',
  scope: 'management',
  operationId: 'updateGuardrail',
  tag: 'Guardrails',
  summary: 'Change a guardrail: lists are replaced whole, null removes; the first change makes that of a workspace',
  audited: 'values',
  params: guardrailPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: {
    200: {
      description: 'After the change.',
      schema: z.strictObject({ data: guardrailSchema, warnings: warningsSchema }),
    },
  },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const changes = { ...guardrailResource.parsePatch(body, services), rules: await parseRules(body, services) };
    const guardrail = await services.guardrails.update(params.id, changes);
    const warnings = await warnOfFilters(services.tryFilters, guardrail.rules);
    return { status: 200, body: { data: serializeGuardrail(guardrail), warnings } };
  },
});
