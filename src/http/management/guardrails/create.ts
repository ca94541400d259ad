import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import { drawGuardrail, guardrailSchema, nameSchema, rulesShape } from './guardrail-shape.ts';
import { readRules } from './read-rules.ts';

const bodySchema = z
  .strictObject({
    name: nameSchema,
    workspace_id: z.uuid().optional().describe('Where it is filed. Default: the default workspace.'),
    ...rulesShape,
  })
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
  responses: { 201: { description: 'The guardrail.', schema: z.strictObject({ data: guardrailSchema }) } },
  errors: [400, 413],
  async handle({ body, services }) {
    const { name, workspace_id: workspaceId, ...rules } = body;
    const guardrail = await services.guardrails.create({
      name,
      ...(workspaceId !== undefined && { workspaceId }),
      ...(await readRules(rules)),
    });
    return { status: 201, body: { data: drawGuardrail(guardrail) } };
  },
});
