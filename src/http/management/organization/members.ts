import { z } from 'zod';
import type { OrganizationMember } from '../../../accounts/workspaces/organization.ts';
import { serializePage, pageSchema, pageQuerySchema, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

/** @spec workspace-12 */
const memberSchema = z
  .strictObject({
    id: z.string(),
    email: z.string().describe('Empty where the id is no address: users are known by their ids alone.'),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: z.enum(['org:admin', 'org:member']),
  })
  .meta({ id: 'OrganizationMember' });

export const listOrganizationMembers = defineRoute({
  method: 'GET',
  path: '/organization/members',
  scope: 'management',
  operationId: 'listOrganizationMembers',
  tag: 'Organization',
  summary: 'List the users that keys, workspaces and guardrails name, by id',
  params: NOTHING,
  query: pageQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'A page of users.', schema: pageSchema(memberSchema) } },
  errors: [400, 404],
  async handle({ query, services }) {
    return {
      status: 200,
      body: serializePage(await services.organization.listMembers(parseWindow(query)), serializeMember),
    };
  },
});

/**
 * Serializes a user. There is no sign-in, so the name is unknown; and admins are management keys, so no user is one.
 */
function serializeMember({ id, email }: OrganizationMember): z.output<typeof memberSchema> {
  return { id, email, first_name: null, last_name: null, role: 'org:member' };
}
