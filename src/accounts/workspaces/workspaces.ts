import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { isUuid } from '../../lib/ids.ts';
import type { DraftOf } from '../../resources/resource.ts';
import { workspaceResource, type WorkspacePatch, type WorkspaceRow } from '../../resources/workspaces.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { WorkspaceChanges, WorkspaceStore } from '../../store/accounts/workspaces.ts';
import { defaultGuardrailId } from '../policy/default-guardrail-id.ts';
import { DEFAULT_WORKSPACE_ID } from '../principal.ts';

export type Workspace = WorkspaceRow;
export type NewWorkspace = Omit<DraftOf<typeof workspaceResource>, 'id' | 'defaultGuardrailId' | 'createdAtMs'>;

export interface Workspaces {
  /** @throws GatewayError 400 when the slug is taken */
  create(newWorkspace: NewWorkspace): Promise<Workspace>;
  /** Lists the oldest first, all or those of these ids. */
  list(window: PageWindow, ids?: readonly string[]): Promise<Page<Workspace>>;
  /** @throws GatewayError 404 when there is no such workspace */
  get(idOrSlug: string): Promise<Workspace>;
  /** @throws GatewayError 400 when the slug is taken, 404 when there is no such workspace */
  update(idOrSlug: string, settings: WorkspacePatch): Promise<Workspace>;
  /**
   * Deletes a workspace with its budgets, members, guardrails and inactive keys.
   * @param evenDefault deletes the default workspace too: from then on calls must name their workspace
   * @throws GatewayError 400 while it has an active key, 403 for the default workspace, 404 for an unknown one
   */
  delete(idOrSlug: string, evenDefault: boolean): Promise<Workspace>;
  /**
   * Finds the workspace of a call that may leave it out.
   * @throws GatewayError 400 when there is none
   */
  idOf(named: string | undefined): Promise<string>;
}

export interface WorkspacesDeps {
  readonly store: WorkspaceStore;
  readonly clock: Clock;
  /** Runs when rules of requests may have changed. */
  readonly onChange: () => void;
}

export function createWorkspaces({ store, clock, onChange }: WorkspacesDeps): Workspaces {
  const get: Workspaces['get'] = async (idOrSlug) => {
    const workspace = await store.find(idOrSlug);
    if (workspace === undefined) throw noSuchWorkspace();
    return workspace;
  };
  return {
    get,
    list: (window, ids) => store.list(window, ids),
    async create(newWorkspace) {
      checkSlug(newWorkspace.slug);
      const id = randomUUID();
      const ids = { id, defaultGuardrailId: defaultGuardrailId(id) };
      const workspace = workspaceResource.newRow({ ...newWorkspace, ...ids, createdAtMs: clock.nowMs() });
      if (!(await store.insert(workspace))) throw slugTaken();
      return workspace;
    },
    async update(idOrSlug, settings) {
      const before = await get(idOrSlug);
      if (settings.slug !== undefined) checkSlug(settings.slug);
      if (Object.keys(settings).length === 0) return before;
      const after = await updateOrReportTaken(store, before, { ...settings, updatedAtMs: clock.nowMs() });
      onChange();
      return after;
    },
    async delete(idOrSlug, evenDefault) {
      const workspace = await get(idOrSlug);
      if (workspace.id === DEFAULT_WORKSPACE_ID && !evenDefault) throw isDefault();
      const outcome = await store.remove(workspace.id, clock.nowMs());
      onChange();
      if (outcome === 'has-active-keys') throw hasActiveKeys();
      if (outcome === 'unknown') throw noSuchWorkspace();
      return workspace;
    },
    async idOf(named) {
      const workspace = await store.find(named ?? DEFAULT_WORKSPACE_ID);
      if (workspace === undefined) throw unknownWorkspace(named);
      return workspace.id;
    },
  };
}

/** @param named what the call named; `undefined`: nothing, so that the default workspace was meant */
export function unknownWorkspace(named: string | undefined): GatewayError {
  return named === undefined
    ? invalid('workspace_id', 'is required, since the default workspace was deleted')
    : invalid('workspace_id', 'is not a workspace of this account');
}

/** Checks a slug. In a path, a slug in the form of an id would be taken for an id. */
function checkSlug(slug: string): void {
  if (isUuid(slug)) throw invalid('slug', 'must not have the form of an id');
}

async function updateOrReportTaken(
  store: WorkspaceStore,
  before: Workspace,
  changes: WorkspaceChanges,
): Promise<Workspace> {
  let after: Workspace | undefined;
  try {
    after = await store.update(before.id, changes);
  } catch (error) {
    // The engines report a broken rule differently; a look-up works with both.
    const owner = changes.slug === undefined ? undefined : await store.find(changes.slug);
    if (owner !== undefined && owner.id !== before.id) throw slugTaken(error);
    throw error;
  }
  if (after === undefined) throw noSuchWorkspace();
  return after;
}

function noSuchWorkspace(): GatewayError {
  return new GatewayError('not_found', 'There is no such workspace.');
}

function slugTaken(cause?: unknown): GatewayError {
  const message = 'is taken by another workspace';
  return new GatewayError('invalid_request', `slug: ${message}`, { issues: [{ path: 'slug', message }], cause });
}

function hasActiveKeys(): GatewayError {
  return new GatewayError('invalid_request', 'The workspace has API keys that work. Disable or delete them first.');
}

function isDefault(): GatewayError {
  return new GatewayError(
    'permission_denied',
    'The default workspace is not deleted by accident: say ?confirm_default_workspace_deletion=true if that is what you want.',
  );
}
