import { guardrailPathSchema } from '../guardrails/guardrail-shape.ts';
import { pageQuerySchema } from '../page.ts';
import { defineList } from '../resource-routes.ts';
import { NOTHING } from '../route.ts';
import {
  serializeKeyAssignment,
  serializeMemberAssignment,
  keyAssignmentSchema,
  memberAssignmentSchema,
} from './assignment-shape.ts';

const facts = { tag: 'Guardrails', query: pageQuerySchema, description: 'A page of assignments.' };
const ofKeys = { ...facts, schema: keyAssignmentSchema, serialize: serializeKeyAssignment };
const ofMembers = { ...facts, schema: memberAssignmentSchema, serialize: serializeMemberAssignment };

export const listAllKeyAssignments = defineList({
  ...ofKeys,
  path: '/guardrails/assignments/keys',
  operationId: 'listKeyAssignments',
  summary: 'List which keys have which guardrail, newest first',
  params: NOTHING,
  find: ({ assignments }, window) => assignments.listKeys(undefined, window),
});

export const listAllMemberAssignments = defineList({
  ...ofMembers,
  path: '/guardrails/assignments/members',
  operationId: 'listMemberAssignments',
  summary: 'List which members have which guardrail, newest first',
  params: NOTHING,
  find: ({ assignments }, window) => assignments.listMembers(undefined, window),
});

export const listKeyAssignments = defineList({
  ...ofKeys,
  path: '/guardrails/{id}/assignments/keys',
  operationId: 'listGuardrailKeyAssignments',
  summary: 'List the keys that have a guardrail, newest first',
  params: guardrailPathSchema,
  find: ({ assignments }, window, { params }) => assignments.listKeys(params.id, window),
});

export const listMemberAssignments = defineList({
  ...ofMembers,
  path: '/guardrails/{id}/assignments/members',
  operationId: 'listGuardrailMemberAssignments',
  summary: 'List the members that have a guardrail, newest first',
  params: guardrailPathSchema,
  find: ({ assignments }, window, { params }) => assignments.listMembers(params.id, window),
});
