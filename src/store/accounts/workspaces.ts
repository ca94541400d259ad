import type { Transaction } from 'kysely';
import { workspaceResource, type WorkspacePatch, type WorkspaceRow } from '../../resources/workspaces.ts';
import { wipedCredential } from './byok-keys.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';
import { flagOf } from '../../resources/columns.ts';
import type { Tables, WorkspacesTable } from '../tables.ts';

const { toColumns, toRow, toChanges } = workspaceResource.rows;

export type WorkspaceChanges = WorkspacePatch & Pick<WorkspaceRow, 'updatedAtMs'>;

/** Workspaces that are not deleted. */
export interface WorkspaceStore {
  find(idOrSlug: string): Promise<WorkspaceRow | undefined>;
  findByGuardrail(defaultGuardrailId: string): Promise<WorkspaceRow | undefined>;
  /** Lists the oldest first. */
  list(window: PageWindow, ids?: readonly string[]): Promise<Page<WorkspaceRow>>;
  /** Returns whether the slug was free. */
  insert(row: WorkspaceRow): Promise<boolean>;
  /**
   * Returns the workspace after the change; `undefined` when there is none. @throws DatabaseError when the slug is
   * taken
   */
  update(id: string, changes: WorkspaceChanges): Promise<WorkspaceRow | undefined>;
  /**
   * Deletes the workspace with its budgets, members, guardrails and keys. Changes nothing while it has an active key.
   */
  remove(id: string, atMs: number): Promise<'removed' | 'unknown' | 'has-active-keys'>;
}

export function createWorkspaceStore({ database }: { readonly database: Database }): WorkspaceStore {
  const { kysely } = database;
  const live = () => kysely.selectFrom('workspaces').selectAll().where('deleted_at_ms', 'is', null);
  return {
    async find(idOrSlug) {
      const columns = await live()
        .where((where) => where.or([where('id', '=', idOrSlug), where('slug', '=', idOrSlug)]))
        .executeTakeFirst();
      return columns && toRow(columns);
    },
    async findByGuardrail(guardrailId) {
      const columns = await live().where('default_guardrail_id', '=', guardrailId).executeTakeFirst();
      return columns && toRow(columns);
    },
    list(window, ids) {
      const all = kysely.selectFrom('workspaces').where('deleted_at_ms', 'is', null);
      return fetchPage(
        ids === undefined ? all : all.where('id', 'in', ids),
        window,
        (found) => found.selectAll().orderBy('created_at_ms').orderBy('id'),
        toRow,
      );
    },
    async insert(row) {
      const inserted = await kysely
        .insertInto('workspaces')
        .values(toColumns(row))
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .execute();
      return inserted.length > 0;
    },
    async update(id, changes) {
      const columns = await kysely
        .updateTable('workspaces')
        .set(toChanges(changes))
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .returningAll()
        .executeTakeFirst();
      return columns && toRow(columns);
    },
    remove: (id, atMs) => removeWorkspace(database, id, atMs),
  };
}

/**
 * Locks a workspace until the transaction ends: it cannot be deleted, and other callers of this function wait. An
 * update that changes nothing does that in both engines. Returns `undefined` when there is no such workspace.
 */
export async function lockWorkspace(
  transaction: Transaction<Tables>,
  id: string,
): Promise<Pick<WorkspacesTable, 'id' | 'include_byok_in_budgets'> | undefined> {
  return transaction
    .updateTable('workspaces')
    .set((set) => ({ slug: set.ref('slug') }))
    .where('id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .returning(['id', 'include_byok_in_budgets'])
    .executeTakeFirst();
}

class HasActiveKeys extends Error {}

async function removeWorkspace(database: Database, id: string, atMs: number) {
  try {
    return await database.kysely.transaction().execute(async (transaction) => {
      const removed = await transaction
        .updateTable('workspaces')
        .set({ deleted_at_ms: atMs })
        .where('id', '=', id)
        .where('deleted_at_ms', 'is', null)
        .returning('id')
        .executeTakeFirst();
      if (removed === undefined) return 'unknown' as const;
      if (await hasActiveKeys(transaction, id, atMs)) throw new HasActiveKeys();
      await removeContents(transaction, id, atMs);
      return 'removed' as const;
    });
  } catch (error) {
    if (error instanceof HasActiveKeys) return 'has-active-keys' as const;
    throw error;
  }
}

/** Management keys do not count: they act on the whole account, wherever they are filed. */
async function hasActiveKeys(transaction: Transaction<Tables>, id: string, atMs: number): Promise<boolean> {
  const active = await transaction
    .selectFrom('keys')
    .select('hash')
    .where('workspace_id', '=', id)
    .where('kind', '=', 'normal')
    .where('deleted_at_ms', 'is', null)
    .where('disabled', '=', 0)
    .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', atMs)]))
    .limit(1)
    .executeTakeFirst();
  return active !== undefined;
}

async function removeContents(transaction: Transaction<Tables>, id: string, atMs: number): Promise<void> {
  const guardrails = transaction.selectFrom('guardrails').select('id').where('workspace_id', '=', id);
  await transaction.deleteFrom('guardrail_assignments').where('guardrail_id', 'in', guardrails).execute();
  await transaction.deleteFrom('guardrails').where('workspace_id', '=', id).execute();
  await transaction.deleteFrom('workspace_budgets').where('workspace_id', '=', id).execute();
  await transaction.deleteFrom('membership_sources').where('workspace_id', '=', id).execute();
  await transaction
    .deleteFrom('vault_secrets')
    .where('scope_kind', '=', 'workspace')
    .where('scope_id', '=', id)
    .execute();
  await transaction
    .updateTable('destinations')
    .set({ enabled: flagOf(false), updated_at_ms: atMs })
    .where('workspace_id', '=', id)
    .where('enabled', '=', flagOf(true))
    .execute();
  // The deleted workspace can use neither: its secrets are wiped, and no code becomes a key without a workspace.
  await transaction
    .updateTable('byok_keys')
    .set(wipedCredential(atMs))
    .where('workspace_id', '=', id)
    .where('deleted_at_ms', 'is', null)
    .execute();
  await transaction.deleteFrom('oauth_codes').where('workspace_id', '=', id).execute();
  // The remaining keys are disabled or expired. They are deleted, so that no request enables a key without a workspace.
  await transaction
    .updateTable('keys')
    .set({ deleted_at_ms: atMs })
    .where('workspace_id', '=', id)
    .where('kind', '=', 'normal')
    .where('deleted_at_ms', 'is', null)
    .execute();
}
