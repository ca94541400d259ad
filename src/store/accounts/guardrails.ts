import { guardrailResource, type GuardrailRow } from '../../resources/guardrails.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';

const { toColumns, toRow } = guardrailResource.rows;

export interface GuardrailStore {
  find(id: string): Promise<GuardrailRow | undefined>;
  /** Lists the newest first. */
  list(workspaceId: string, window: PageWindow): Promise<Page<GuardrailRow>>;
  insert(row: GuardrailRow): Promise<void>;
  /**
   * Changes a guardrail while no other change of it can run.
   * @param fallback is changed and inserted where there is no guardrail
   * @param change returns the guardrail after the change; what it throws stops the change
   */
  update(
    id: string,
    change: (row: GuardrailRow) => GuardrailRow,
    fallback?: GuardrailRow,
  ): Promise<GuardrailRow | undefined>;
  /** Removes the guardrail with its assignments. Returns whether it existed. */
  remove(id: string): Promise<boolean>;
}

export function createGuardrailStore({ database }: { readonly database: Database }): GuardrailStore {
  const { kysely } = database;
  return {
    async find(id) {
      const columns = await kysely.selectFrom('guardrails').selectAll().where('id', '=', id).executeTakeFirst();
      return columns && toRow(columns);
    },
    list: (workspaceId, window) =>
      fetchPage(
        kysely.selectFrom('guardrails').where('workspace_id', '=', workspaceId),
        window,
        (found) => found.selectAll().orderBy('created_at_ms', 'desc').orderBy('id'),
        toRow,
      ),
    async insert(row) {
      await kysely.insertInto('guardrails').values(toColumns(row)).execute();
    },
    update: (id, change, fallback) => updateGuardrail(database, id, change, fallback),
    remove: (id) =>
      kysely.transaction().execute(async (transaction) => {
        const removed = await transaction.deleteFrom('guardrails').where('id', '=', id).returning('id').execute();
        await transaction.deleteFrom('guardrail_assignments').where('guardrail_id', '=', id).execute();
        return removed.length > 0;
      }),
  };
}

function updateGuardrail(
  database: Database,
  id: string,
  change: (row: GuardrailRow) => GuardrailRow,
  fallback: GuardrailRow | undefined,
): Promise<GuardrailRow | undefined> {
  return database.kysely.transaction().execute(async (transaction) => {
    if (fallback !== undefined)
      await transaction
        .insertInto('guardrails')
        .values(toColumns(fallback))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    // An update that changes nothing makes other writers wait: the rules are one column, and a partial change reads all
    // of it.
    const columns = await transaction
      .updateTable('guardrails')
      .set((set) => ({ name: set.ref('name') }))
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (columns === undefined) return undefined;
    const { id: _id, ...transformed } = toColumns(change(toRow(columns)));
    await transaction.updateTable('guardrails').set(transformed).where('id', '=', id).execute();
    return toRow({ id, ...transformed });
  });
}
