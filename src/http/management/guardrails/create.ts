import { z } from 'zod';
import { parseRules, rulesShape } from '../../../resources/guardrail-rules.ts';
import { guardrailResource } from '../../../resources/guardrails.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { serializeGuardrail, guardrailSchema } from './guardrail-shape.ts';
import { warnOfFilters, warningsSchema } from './warn-of-filters.ts';

const { name, workspace_id, ...settings } = guardrailResource.createShape;
const bodySchema = z
  .strictObject({ name, workspace_id, ...settings, ...rulesShape })
  .meta({ id: 'CreateGuardrailRequest' });

export const createGuardrail = defineRoute({
  method: 'POST',
  path: '/guardrails',
  scope: 'management',
  operationId: 'createGuardrail',
  tag: 'Guardrails',
  summary: 'Create a guardrail; it acts once it is assigned',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    201: { description: 'The guardrail.', schema: z.strictObject({ data: guardrailSchema, warnings: warningsSchema }) },
  },
  errors: [400, 413],
  async handle({ body, services }) {
    const values = guardrailResource.parseNew(body, services);
    const guardrail = await services.guardrails.create({ ...values, rules: await parseRules(body, services) });
    const warnings = await warnOfFilters(services.tryFilters, guardrail.rules);
    return { status: 201, body: { data: serializeGuardrail(guardrail), warnings } };
  },
});
