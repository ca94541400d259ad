import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { guardrailPathSchema } from './guardrail-shape.ts';

export const deleteGuardrail = defineRoute({
  method: 'DELETE',
  path: '/guardrails/{id}',
  scope: 'management',
  operationId: 'deleteGuardrail',
  tag: 'Guardrails',
  summary: 'Delete a guardrail with its assignments',
  params: guardrailPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The guardrail is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [404],
  async handle({ params, services }) {
    await services.guardrails.delete(params.id);
    return { status: 200, body: { deleted: true } };
  },
});
