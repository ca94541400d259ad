import { z } from 'zod';
import type { Workspace } from '../../../accounts/workspaces/workspaces.ts';
import { workspaceResource } from '../../../resources/workspaces.ts';

export const { schema: workspaceSchema } = workspaceResource;

/** The path of one workspace. What can be neither is unknown: 404. */
export const workspacePathSchema = z.strictObject({ id: z.string().describe('The id of a workspace, or its slug.') });

export function serializeWorkspace(workspace: Workspace): z.output<typeof workspaceSchema> {
  return workspaceResource.serialize(workspace, {});
}

/** What an audit event calls a workspace, however the path named it. */
export function subjectOf({ id }: Pick<Workspace, 'id'>, below = ''): string {
  return `/workspaces/${id}${below}`;
}
