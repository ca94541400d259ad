import { z } from 'zod';
import { guardrailPathSchema } from '../guardrails/guardrail-shape.ts';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import {
  serializeKeyAssignment,
  serializeMemberAssignment,
  keyAssignmentSchema,
  memberAssignmentSchema,
} from './assignment-shape.ts';

const query = z.strictObject(pageShape);

export const listAllKeyAssignments = defineRoute({
  method: 'GET',
  path: '/guardrails/assignments/keys',
  scope: 'management',
  operationId: 'listKeyAssignments',
  tag: 'Guardrails',
  summary: 'List which keys have which guardrail, newest first',
  params: NOTHING,
  query,
  body: NO_BODY,
  responses: { 200: { description: 'A page of assignments.', schema: pageSchema(keyAssignmentSchema) } },
  errors: [400],
  async handle(context) {
    const page = await context.services.assignments.listKeys(undefined, parseWindow(context.query));
    return { status: 200, body: serializePage(page, serializeKeyAssignment) };
  },
});

export const listAllMemberAssignments = defineRoute({
  method: 'GET',
  path: '/guardrails/assignments/members',
  scope: 'management',
  operationId: 'listMemberAssignments',
  tag: 'Guardrails',
  summary: 'List which members have which guardrail, newest first',
  params: NOTHING,
  query,
  body: NO_BODY,
  responses: { 200: { description: 'A page of assignments.', schema: pageSchema(memberAssignmentSchema) } },
  errors: [400],
  async handle(context) {
    const page = await context.services.assignments.listMembers(undefined, parseWindow(context.query));
    return { status: 200, body: serializePage(page, serializeMemberAssignment) };
  },
});

export const listKeyAssignments = defineRoute({
  method: 'GET',
  path: '/guardrails/{id}/assignments/keys',
  scope: 'management',
  operationId: 'listGuardrailKeyAssignments',
  tag: 'Guardrails',
  summary: 'List the keys that have a guardrail, newest first',
  params: guardrailPathSchema,
  query,
  body: NO_BODY,
  responses: { 200: { description: 'A page of assignments.', schema: pageSchema(keyAssignmentSchema) } },
  errors: [400, 404],
  async handle(context) {
    const page = await context.services.assignments.listKeys(context.params.id, parseWindow(context.query));
    return { status: 200, body: serializePage(page, serializeKeyAssignment) };
  },
});

export const listMemberAssignments = defineRoute({
  method: 'GET',
  path: '/guardrails/{id}/assignments/members',
  scope: 'management',
  operationId: 'listGuardrailMemberAssignments',
  tag: 'Guardrails',
  summary: 'List the members that have a guardrail, newest first',
  params: guardrailPathSchema,
  query,
  body: NO_BODY,
  responses: { 200: { description: 'A page of assignments.', schema: pageSchema(memberAssignmentSchema) } },
  errors: [400, 404],
  async handle(context) {
    const page = await context.services.assignments.listMembers(context.params.id, parseWindow(context.query));
    return { status: 200, body: serializePage(page, serializeMemberAssignment) };
  },
});
