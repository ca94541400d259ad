import type { GenerationRecord, GenerationSearch } from '../../../accounts/generation-lookup.ts';
import { administeredBy, administers, type Viewer } from '../../../accounts/people/viewer.ts';
import { callerOf } from '../owner.ts';
import type { RouteContext } from '../route.ts';

export type GenerationSight = Pick<GenerationSearch, 'onlyKey' | 'onlyOf'>;

/** What a caller sees: a key its own, a user those of its keys and of the workspaces that it administers. `{}`: all. */
export function sightOf({
  principal,
  viewer,
}: Pick<RouteContext<unknown, unknown, unknown>, 'principal' | 'viewer'>): GenerationSight {
  if (viewer !== undefined) return { onlyOf: { memberId: viewer.userId, workspaceIds: administeredBy(viewer) } };
  const caller = callerOf(principal);
  return caller.kind === 'management' ? {} : { onlyKey: caller.keyHash };
}

/** Whether a user sees this one. */
export function isInSight(viewer: Viewer | undefined, { memberId, workspaceId }: GenerationRecord): boolean {
  return viewer === undefined || memberId === viewer.userId || administers(viewer, workspaceId);
}
