import type { ConsoleSession } from '../../accounts/console/sessions.ts';
import { administers } from '../../accounts/people/viewer.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { LiveRow } from '../../telemetry/live/live-hub.ts';

/** Which rows a session sees, as its rights and its keys are now. */
export interface LiveSight {
  readonly sees: (row: LiveRow) => boolean;
  /** Looks at the rights anew. @throws GatewayError 401 once the session has ended, or has another role */
  renew(): Promise<void>;
}

/** The keys that were made for a user, at most so many as the newest of them that matter. */
export type KeysOfUser = (userId: string) => Promise<readonly string[]>;

export async function createLiveSight(
  find: () => Promise<ConsoleSession>,
  keysOf: KeysOfUser,
): Promise<LiveSight & { readonly session: ConsoleSession }> {
  let session = await find();
  let keys = await readKeys(session, keysOf);
  return {
    session,
    sees: (row) => seesRow(session, keys, row),
    async renew() {
      const found = await find();
      // A view is opened for one role: counts of all keys go to operators. The dashboard opens another one.
      if (found.role !== session.role)
        throw new GatewayError('authentication', 'The role of the session has changed. Open another view.');
      session = found;
      keys = await readKeys(session, keysOf);
    },
  };
}

async function readKeys({ viewer, principal }: ConsoleSession, keysOf: KeysOfUser): Promise<ReadonlySet<string>> {
  return new Set(viewer === undefined ? [principal.keyHash] : await keysOf(viewer.userId));
}

function seesRow({ role, viewer }: ConsoleSession, keys: ReadonlySet<string>, row: LiveRow): boolean {
  if (role === 'operator' || keys.has(row.api_key_hash)) return true;
  const { workspace_id: workspaceId } = row;
  return viewer !== undefined && typeof workspaceId === 'string' && administers(viewer, workspaceId);
}
