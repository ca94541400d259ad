import { z } from 'zod';
import { administers, type Viewer } from '../../../accounts/people/viewer.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { assert } from '../../../lib/assert.ts';
import { keyResource } from '../../../resources/keys.ts';
import { defineRoute, NOTHING, type ManagementServices } from '../route.ts';
import { serializeKey, keySchema } from './key-shape.ts';

// The order of the public documentation.
const { name, limit, limit_reset, include_byok_in_limit, ...others } = keyResource.createShape;
const bodySchema = z
  .strictObject({ name, limit, limit_reset, include_byok_in_limit, ...others })
  .meta({ id: 'CreateKeyRequest' });

export const createKey = defineRoute({
  method: 'POST',
  path: '/keys',
  scope: 'management',
  operationId: 'createKey',
  tag: 'API keys',
  summary: 'Create a key for generations; the response is the only one that shows it in full',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    201: {
      description: 'The key, shown this once.',
      schema: z.strictObject({ data: keySchema, key: z.string() }),
    },
  },
  errors: [400, 413],
  users: async ({ body, services }) => ({
    workspaceId: await services.workspaces.idOf(body.workspace_id),
    isForMembers: true,
  }),
  async handle({ principal, viewer, body, services }) {
    assert(principal !== undefined, 'the route is not public');
    const { record, key } = await services.keys.create({
      ...keyResource.parseNew(body, services),
      ...(viewer !== undefined && { creatorUserId: await creatorFor(viewer, body, services) }),
      issuerKeyHash: principal.keyHash,
      issuerLabel: principal.label,
    });
    return { status: 201, body: { data: serializeKey(record), key } };
  },
});

/**
 * The user that the key of a user is for: itself. An admin of the workspace may make keys for its members, whose limits
 * then count them. @throws GatewayError 403
 */
async function creatorFor(
  viewer: Viewer,
  { creator_user_id: named, workspace_id: workspace }: z.output<typeof bodySchema>,
  { workspaces, people }: Pick<ManagementServices, 'workspaces' | 'people'>,
): Promise<string> {
  if (named === undefined || named === null || named === viewer.userId) return viewer.userId;
  const workspaceId = await workspaces.idOf(workspace);
  const theirs = administers(viewer, workspaceId) ? await people?.membershipsOf(named) : undefined;
  if (theirs?.some((membership) => membership.workspaceId === workspaceId) === true) return named;
  throw new GatewayError(
    'permission_denied',
    'creator_user_id: must be you or, for an admin, a member of the workspace.',
  );
}
