import { z } from 'zod';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeGuardrail, guardrailSchema } from './guardrail-shape.ts';

export const listGuardrails = defineRoute({
  method: 'GET',
  path: '/guardrails',
  scope: 'management',
  operationId: 'listGuardrails',
  tag: 'Guardrails',
  summary: 'List the guardrails of a workspace, newest first',
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    workspace_id: z.uuid().optional().describe('Default: the default workspace.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of guardrails.', schema: pageSchema(guardrailSchema) } },
  errors: [400],
  async handle({ query, services }) {
    const page = await services.guardrails.list(query.workspace_id, parseWindow(query));
    return { status: 200, body: serializePage(page, serializeGuardrail) };
  },
});
