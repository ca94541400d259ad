import { z } from 'zod';
import { pageShape } from '../page.ts';
import { defineDelete, defineGet, defineList } from '../resource-routes.ts';
import { touchNamed, touchRow } from '../workspaces/touch-workspace.ts';
import { NOTHING } from '../route.ts';
import { serializeGuardrail, guardrailPathSchema, guardrailSchema } from './guardrail-shape.ts';

const shown = { schema: guardrailSchema, serialize: serializeGuardrail };

export const listGuardrails = defineList({
  path: '/guardrails',
  operationId: 'listGuardrails',
  tag: 'Guardrails',
  summary: 'List the guardrails of a workspace, newest first',
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    workspace_id: z.uuid().optional().describe('Default: the default workspace.'),
  }),
  description: 'A page of guardrails.',
  ...shown,
  users: ({ query, services }) => touchNamed(services, query.workspace_id),
  find: ({ guardrails }, window, { query }) => guardrails.list(query.workspace_id, window),
});

export const getGuardrail = defineGet({
  path: '/guardrails/{id}',
  operationId: 'getGuardrail',
  tag: 'Guardrails',
  summary: 'One guardrail',
  params: guardrailPathSchema,
  description: 'The guardrail.',
  ...shown,
  users: async ({ params, services }) => touchRow(await services.guardrails.get(params.id)),
  find: ({ guardrails }, { id }) => guardrails.get(id),
});

export const deleteGuardrail = defineDelete({
  path: '/guardrails/{id}',
  operationId: 'deleteGuardrail',
  tag: 'Guardrails',
  summary: 'Delete a guardrail with its assignments',
  params: guardrailPathSchema,
  description: 'The guardrail is gone.',
  remove: ({ guardrails }, { id }) => guardrails.delete(id),
});
