import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeGuardrail, guardrailPathSchema, guardrailSchema } from './guardrail-shape.ts';

export const getGuardrail = defineRoute({
  method: 'GET',
  path: '/guardrails/{id}',
  scope: 'management',
  operationId: 'getGuardrail',
  tag: 'Guardrails',
  summary: 'One guardrail',
  params: guardrailPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The guardrail.', schema: z.strictObject({ data: guardrailSchema }) } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeGuardrail(await services.guardrails.get(params.id)) } };
  },
});
