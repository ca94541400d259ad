import type { ResponseOwner } from '../../state/contract.ts';
import type { Database } from '../engine/database.ts';

/** Finds the owners of kept responses whose key or workspace was deleted. */
export type FindGoneOwners = (owners: readonly ResponseOwner[]) => Promise<readonly ResponseOwner[]>;

const IN_ONE_QUERY_MAX = 500;

/** @param withKeys whether responses end with their key, and not only with their workspace */
export function createFindGoneOwners({
  database: { reports },
  withKeys,
}: {
  readonly database: Database;
  readonly withKeys: boolean;
}): FindGoneOwners {
  async function deletedKeys(hashes: readonly string[]): Promise<readonly string[]> {
    const rows = await reports
      .selectFrom('keys')
      .select('hash as id')
      .where('hash', 'in', hashes)
      .where('deleted_at_ms', 'is not', null)
      .execute();
    return rows.map(({ id }) => id);
  }

  async function deletedWorkspaces(ids: readonly string[]): Promise<readonly string[]> {
    const rows = await reports
      .selectFrom('workspaces')
      .select('id')
      .where('id', 'in', ids)
      .where('deleted_at_ms', 'is not', null)
      .execute();
    return rows.map(({ id }) => id);
  }

  return async (owners) => {
    const workspaces = await inParts(new Set(owners.map(({ workspaceId }) => workspaceId)), deletedWorkspaces);
    const keys = withKeys
      ? await inParts(new Set(owners.map(({ keyHash }) => keyHash)), deletedKeys)
      : new Set<string>();
    return owners.filter(({ workspaceId, keyHash }) => workspaces.has(workspaceId) || keys.has(keyHash));
  };
}

async function inParts(
  all: ReadonlySet<string>,
  find: (some: readonly string[]) => Promise<readonly string[]>,
): Promise<ReadonlySet<string>> {
  const ids = [...all];
  const found = new Set<string>();
  for (let at = 0; at < ids.length; at += IN_ONE_QUERY_MAX)
    for (const id of await find(ids.slice(at, at + IN_ONE_QUERY_MAX))) found.add(id);
  return found;
}
