import { administeredBy } from '../../../accounts/people/viewer.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { serializePage, pageSchema, pageQuerySchema, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { memberSchema, serializePerson } from './user-shape.ts';

export const listOrganizationMembers = defineRoute({
  method: 'GET',
  path: '/organization/members',
  scope: 'management',
  operationId: 'listOrganizationMembers',
  tag: 'Organization',
  summary: 'List users, by address, and then the ids that keys, workspaces and guardrails name',
  params: NOTHING,
  query: pageQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'A page of users.', schema: pageSchema(memberSchema) } },
  errors: [400, 404],
  users: 'narrowed',
  async handle({ query, viewer, services }) {
    if (viewer !== undefined && administeredBy(viewer).length === 0)
      throw new GatewayError('permission_denied', 'This operation needs an admin of a workspace, or an operator.');
    const window = parseWindow(query);
    if (services.people !== undefined)
      return { status: 200, body: serializePage(await services.people.list(window), serializePerson) };
    const page = await services.organization.listMembers(window);
    // There is no sign-in, so names are unknown; and admins are management keys, so no user is one.
    const named = { first_name: null, last_name: null, role: 'org:member' } as const;
    return { status: 200, body: serializePage(page, ({ id, email }) => ({ id, email, ...named })) };
  },
});
