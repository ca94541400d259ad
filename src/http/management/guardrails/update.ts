import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import { drawGuardrail, guardrailPathSchema, guardrailSchema, nameSchema, rulesShape } from './guardrail-shape.ts';
import { readRules } from './read-rules.ts';

const bodySchema = z
  .strictObject({ name: nameSchema.optional(), ...rulesShape })
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
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: guardrailSchema }) } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const { name, ...rules } = body;
    const changes = { ...(name !== undefined && { name }), ...(await readRules(rules)) };
    return { status: 200, body: { data: drawGuardrail(await services.guardrails.update(params.id, changes)) } };
  },
});
