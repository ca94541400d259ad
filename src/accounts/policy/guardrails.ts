import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Catalog } from '../../catalog/model.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RuleChanges } from '../../resources/guardrail-rules.ts';
import { guardrailResource, type GuardrailPatch, type GuardrailRow } from '../../resources/guardrails.ts';
import type { GuardrailStore } from '../../store/accounts/guardrails.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { WorkspaceRow } from '../../resources/workspaces.ts';
import type { WorkspaceStore } from '../../store/accounts/workspaces.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

export type Guardrail = GuardrailRow;
/** Changes of a guardrail: absent fields stay as they are. */
export type GuardrailChanges = GuardrailPatch & { readonly rules?: RuleChanges };
export type NewGuardrail = GuardrailChanges & { readonly name: string; readonly workspaceId?: string | null };

/**
 * Rules that an account sets. A guardrail does nothing until it is assigned to a key or a member, except the one of a
 * whole workspace, whose id is known before it exists. @spec guardrail-6
 */
export interface Guardrails {
  /** @throws GatewayError 400 when the workspace is not there */
  create(input: NewGuardrail): Promise<Guardrail>;
  /**
   * Lists the newest first.
   * @param workspaceId default: the default workspace.
   * @throws GatewayError 400 when that was deleted
   */
  list(workspaceId: string | undefined, window: PageWindow): Promise<Page<Guardrail>>;
  /** @throws GatewayError 404 when there is no such guardrail */
  get(id: string): Promise<Guardrail>;
  /**
   * Changes a guardrail. The first change of a workspace's guardrail creates it.
   * @throws GatewayError 400 when it would rename the guardrail of a workspace, 404 when there is no such guardrail
   */
  update(id: string, changes: GuardrailChanges): Promise<Guardrail>;
  /** Deletes a guardrail with its assignments. @throws GatewayError 404 when there is no such guardrail */
  delete(id: string): Promise<void>;
}

export interface GuardrailsDeps {
  readonly store: GuardrailStore;
  readonly workspaces: Pick<Workspaces, 'idOf'>;
  readonly workspaceStore: Pick<WorkspaceStore, 'findByGuardrail'>;
  readonly catalog: Pick<Catalog, 'find'>;
  readonly clock: Clock;
  /** Runs when rules of requests have changed. */
  readonly onChange: () => void;
}

const NAME_OF_DEFAULT = 'Workspace default';

export function createGuardrails(deps: GuardrailsDeps): Guardrails {
  const { store, workspaces, workspaceStore, catalog, clock, onChange } = deps;
  return {
    async create({ workspaceId, name, ...input }) {
      const blank = draftGuardrail(randomUUID(), await workspaces.idOf(workspaceId ?? undefined), name, clock.nowMs());
      const guardrail = { ...withChanges(blank, input, catalog), updatedAtMs: null };
      await store.insert(guardrail);
      return guardrail;
    },
    async list(workspaceId, window) {
      return store.list(workspaceId ?? (await workspaces.idOf(undefined)), window);
    },
    async get(id) {
      const guardrail = await store.find(id);
      if (guardrail === undefined) throw noSuchGuardrail();
      return guardrail;
    },
    async update(id, changes) {
      const workspace = await workspaceStore.findByGuardrail(id);
      if (workspace !== undefined && changes.name !== undefined && changes.name !== NAME_OF_DEFAULT)
        throw invalid('name', 'cannot be changed: it is the guardrail of a workspace');
      const nowMs = clock.nowMs();
      const change = (row: Guardrail): Guardrail => ({ ...withChanges(row, changes, catalog), updatedAtMs: nowMs });
      const guardrail = await store.update(id, change, workspace && defaultGuardrailOf(workspace, nowMs));
      if (guardrail === undefined) throw noSuchGuardrail();
      onChange();
      return guardrail;
    },
    async delete(id) {
      const existed = await store.remove(id);
      onChange();
      if (!existed) throw noSuchGuardrail();
    },
  };
}

function defaultGuardrailOf({ id, defaultGuardrailId }: WorkspaceRow, nowMs: number): Guardrail {
  return draftGuardrail(defaultGuardrailId, id, NAME_OF_DEFAULT, nowMs);
}

function draftGuardrail(id: string, workspaceId: string, name: string, nowMs: number): Guardrail {
  return guardrailResource.newRow({ id, workspaceId, name, createdAtMs: nowMs });
}

function withChanges(row: Guardrail, changes: GuardrailChanges, catalog: Pick<Catalog, 'find'>): Guardrail {
  const { rules = {}, ...others } = changes;
  const { allowedModels, ignoredModels, allowedProviders, ignoredProviders } = rules;
  return {
    ...row,
    ...others,
    rules: {
      ...row.rules,
      ...rules,
      zeroRetention: { ...row.rules.zeroRetention, ...rules.zeroRetention },
      ...(allowedModels && { allowedModels: permanentNames(allowedModels, catalog) }),
      ...(ignoredModels && { ignoredModels: permanentNames(ignoredModels, catalog) }),
      ...(allowedProviders && { allowedProviders: lowerCased(allowedProviders) }),
      ...(ignoredProviders && { ignoredProviders: lowerCased(ignoredProviders) }),
    },
  };
}

/**
 * Replaces names by permanent ones. A name that the catalog does not have stays as it was sent: the catalog may get it
 * later.
 */
function permanentNames(slugs: readonly string[], catalog: Pick<Catalog, 'find'>): readonly string[] {
  const names = slugs.map((slug) => {
    const model = catalog.find(slug);
    return model?.canonicalSlug ?? model?.slug ?? slug;
  });
  return [...new Set(names)];
}

function lowerCased(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))];
}

export function noSuchGuardrail(): GatewayError {
  return new GatewayError('not_found', 'There is no such guardrail.');
}
