import { z } from 'zod';
import { defineDelete } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { callerOf } from '../owner.ts';
import {
  formatLink,
  linkSchema,
  memberSchema,
  nameSchema,
  peopleOf,
  roleSchema,
  serializeUser,
  userPathSchema,
} from './user-shape.ts';

const tag = 'Organization';

/** @spec people-2, people-4 */
export const updateUser = defineRoute({
  method: 'PATCH',
  path: '/organization/members/{id}',
  scope: 'management',
  operationId: 'updateOrganizationMember',
  tag,
  summary: 'Change the role or the name of a user, or disable it: then its keys and sessions end at once',
  audited: 'values',
  params: userPathSchema,
  query: NOTHING,
  body: z
    .strictObject({
      role: roleSchema.optional(),
      disabled: z.boolean().optional().describe('Enabled again, a user gets none of its keys back by itself.'),
      first_name: nameSchema.nullable().optional(),
      last_name: nameSchema.nullable().optional(),
    })
    .meta({ id: 'UpdateOrganizationMemberRequest' }),
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: memberSchema }) } },
  errors: [400, 404, 409, 413],
  async handle({ params, body, services }) {
    const { role, disabled, first_name: firstName, last_name: lastName } = body;
    const user = await peopleOf(services).update(params.id, { role, disabled, firstName, lastName });
    return { status: 200, body: { data: serializeUser(user) } };
  },
});

export const deleteUser = defineDelete({
  path: '/organization/members/{id}',
  operationId: 'deleteOrganizationMember',
  tag,
  summary: 'Remove a user: its keys are disabled, its sessions and memberships end; records keep its id',
  params: userPathSchema,
  description: 'The user is gone.',
  errors: [404, 409],
  remove: (services, { id }) => peopleOf(services).remove(id),
});

export const createPasswordLink = defineRoute({
  method: 'POST',
  path: '/organization/members/{id}/password-link',
  scope: 'management',
  operationId: 'createPasswordLink',
  tag,
  summary: 'Make a link by which a user chooses a password, once and within a day; that ends its sessions',
  params: userPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    201: {
      description: 'The link. One that was made before opens nothing any more.',
      schema: z.strictObject({ data: z.strictObject({ link: linkSchema, expires_at: z.iso.datetime() }) }),
    },
  },
  errors: [404, 409],
  async handle({ principal, params, services }) {
    const people = peopleOf(services);
    const { invitation, secret } = await people.linkFor(params.id, callerOf(principal).label);
    const expiresAt = new Date(invitation.expiresAtMs).toISOString();
    const subject = `/organization/members/${params.id}/password-link`;
    return { status: 201, body: { data: { link: formatLink(secret), expires_at: expiresAt } }, subject };
  },
});
