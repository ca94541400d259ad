import { z } from 'zod';
import { callerOf } from '../owner.ts';
import { pageQuerySchema } from '../page.ts';
import { defineDelete, defineList } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import {
  emailSchema,
  formatLink,
  invitationSchema,
  invitedWorkspacesSchema,
  linkSchema,
  peopleOf,
  roleSchema,
  serializeInvitation,
  userPathSchema,
} from './user-shape.ts';

const tag = 'Organization';
const openSchema = z.strictObject({ data: invitationSchema, link: linkSchema });

/** @spec people-3 */
export const inviteUser = defineRoute({
  method: 'POST',
  path: '/organization/members',
  scope: 'management',
  operationId: 'inviteOrganizationMember',
  tag,
  summary: 'Invite a person, by a link to hand over: it makes a user, once and within 7 days',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({
      email: emailSchema,
      role: roleSchema.optional().describe('Default: `org:member`.'),
      workspaces: invitedWorkspacesSchema.optional().describe('That the user becomes a member of.'),
    })
    .meta({ id: 'InviteOrganizationMemberRequest' }),
  responses: {
    201: {
      description: 'The invitation, in place of one that this address had, with its link.',
      schema: openSchema,
    },
  },
  errors: [400, 404, 409, 413, 429],
  async handle({ principal, body, services }) {
    const { email, role = 'org:member', workspaces = [] } = body;
    const { invitation, secret } = await peopleOf(services).invite({
      email,
      role,
      workspaces: workspaces.map(({ workspace_id: workspaceId, role: own }) => ({ workspaceId, role: own })),
      invitedBy: callerOf(principal).label,
    });
    const subject = `/organization/invitations/${invitation.id}`;
    return { status: 201, body: { data: serializeInvitation(invitation), link: formatLink(secret) }, subject };
  },
});

export const listInvitations = defineList({
  path: '/organization/invitations',
  operationId: 'listOrganizationInvitations',
  tag,
  summary: 'List open invitations, newest first',
  params: NOTHING,
  query: pageQuerySchema,
  description: 'A page of invitations.',
  errors: [400, 404],
  schema: invitationSchema,
  serialize: serializeInvitation,
  find: (services, window) => peopleOf(services).invitations(window),
});

export const renewInvitation = defineRoute({
  method: 'POST',
  path: '/organization/invitations/{id}/link',
  scope: 'management',
  operationId: 'renewOrganizationInvitation',
  tag,
  summary: 'Make another link for an invitation; the one before opens nothing any more',
  params: userPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 201: { description: 'The invitation, with 7 more days.', schema: openSchema } },
  errors: [404],
  async handle({ principal, params, services }) {
    const { invitation, secret } = await peopleOf(services).renew(params.id, callerOf(principal).label);
    const subject = `/organization/invitations/${invitation.id}`;
    return { status: 201, body: { data: serializeInvitation(invitation), link: formatLink(secret) }, subject };
  },
});

export const withdrawInvitation = defineDelete({
  path: '/organization/invitations/{id}',
  operationId: 'withdrawOrganizationInvitation',
  tag,
  summary: 'Withdraw an invitation: its link opens nothing any more',
  params: userPathSchema,
  description: 'It is withdrawn.',
  remove: (services, { id }) => peopleOf(services).withdraw(id),
});
