import { z } from 'zod';
import type { Workspace } from '../../../accounts/workspaces/workspaces.ts';
import { workspaceResource } from '../../../resources/workspaces.ts';

export const { schema: workspaceSchema } = workspaceResource;

/** The path of one workspace. A text that is neither an id nor a slug is an unknown one: 404. */
export const workspacePathSchema = z.strictObject({ id: z.string().describe('The id of a workspace, or its slug.') });

export function serializeWorkspace(workspace: Workspace): z.output<typeof workspaceSchema> {
  return workspaceResource.serialize(workspace, {});
}

/** Names a workspace in audit events by its id, however the path named it. */
export function subjectOf({ id }: Pick<Workspace, 'id'>, below = ''): string {
  return `/workspaces/${id}${below}`;
}
