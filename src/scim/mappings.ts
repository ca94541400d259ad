import { randomUUID } from 'node:crypto';
import { DEFAULT_ACCOUNT_ID } from '../accounts/principal.ts';
import type { Workspaces } from '../accounts/workspaces/workspaces.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import type { ScimGroupRow, ScimMappingRow } from '../store/scim/columns.ts';
import type { ScimStore } from '../store/scim/scim.ts';

export type ListedGroup = ScimGroupRow & { readonly memberCount: number; readonly organizationId: string };

/** Which groups of an identity provider are members of which workspaces. @spec scim-8 */
export interface ScimMappings {
  groups(window: PageWindow): Promise<Page<ListedGroup>>;
  list(window: PageWindow): Promise<Page<ScimMappingRow>>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<ScimMappingRow>;
  /** @throws GatewayError 404, 409 for a pair that has one */
  create(groupId: string, workspace: string, role: ScimMappingRow['role']): Promise<ScimMappingRow>;
  /** @throws GatewayError 404 */
  update(id: string, role: ScimMappingRow['role']): Promise<ScimMappingRow>;
  /** @throws GatewayError 404 */
  delete(id: string, keepsMembers: boolean): Promise<void>;
}

export function createScimMappings({
  store,
  workspaces,
  clock,
}: {
  readonly store: ScimStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly clock: Clock;
}): ScimMappings {
  return {
    async groups(window) {
      const page = await store.groupPage(window);
      return { ...page, rows: page.rows.map((row) => ({ ...row, organizationId: DEFAULT_ACCOUNT_ID })) };
    },
    list: (window) => store.mappings(window),
    async get(id) {
      const found = await store.findMapping(id);
      if (found === undefined) throw noSuchMapping();
      return found;
    },
    async create(groupId, workspace, role) {
      const [group] = await store.listGroups({ column: 'id', value: groupId }, 1);
      if (group === undefined) throw new GatewayError('not_found', 'There is no such group.');
      const { id: workspaceId } = await workspaces.get(workspace);
      const nowMs = clock.nowMs();
      const row: ScimMappingRow = {
        id: randomUUID(),
        groupId,
        workspaceId,
        role,
        createdAtMs: nowMs,
        updatedAtMs: null,
      };
      if (!(await store.insertMapping(row, nowMs)))
        throw new GatewayError('invalid_request', 'The group is mapped to this workspace already.', { status: 409 });
      return row;
    },
    async update(id, role) {
      const changed = await store.updateMapping(id, role, clock.nowMs());
      if (changed === undefined) throw noSuchMapping();
      return changed;
    },
    async delete(id, keepsMembers) {
      if (!(await store.deleteMapping(id, keepsMembers, clock.nowMs()))) throw noSuchMapping();
    },
  };
}

function noSuchMapping(): GatewayError {
  return new GatewayError('not_found', 'There is no such mapping.');
}
