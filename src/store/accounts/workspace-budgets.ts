import { budgetResource, type BudgetInterval, type BudgetRow } from '../../resources/workspace-parts.ts';
import { flagOf } from '../../resources/columns.ts';
import type { Database } from '../engine/database.ts';
import { lockWorkspace } from './workspaces.ts';

const { toColumns, toRow } = budgetResource.rows;

export interface BudgetStore {
  /** Lists the budgets, at most one an interval. */
  list(workspaceId: string): Promise<readonly BudgetRow[]>;
  /**
   * Sets the budget of an interval and, for the whole workspace, whether calls with callers' own credentials count.
   * @param check gets the budgets as they would be; what it throws stops the change
   * @returns `undefined` when there is no such workspace
   */
  put(
    budget: BudgetRow,
    includeByok: boolean | undefined,
    check: (budgets: readonly BudgetRow[]) => void,
  ): Promise<{ readonly budget: BudgetRow; readonly includeByok: boolean } | undefined>;
  remove(workspaceId: string, interval: BudgetInterval): Promise<void>;
}

export function createBudgetStore({ database }: { readonly database: Database }): BudgetStore {
  const { kysely } = database;
  return {
    async list(workspaceId) {
      const rows = await kysely
        .selectFrom('workspace_budgets')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .execute();
      return rows.map(toRow);
    },
    put: (budget, includeByok, check) => putBudget(database, budget, includeByok, check),
    async remove(workspaceId, interval) {
      await kysely
        .deleteFrom('workspace_budgets')
        .where('workspace_id', '=', workspaceId)
        .where('interval', '=', interval)
        .execute();
    },
  };
}

/** Locks the workspace, so that two changes of its budgets run one after the other and the check holds for both. */
function putBudget(
  database: Database,
  budget: BudgetRow,
  includeByok: boolean | undefined,
  check: (budgets: readonly BudgetRow[]) => void,
) {
  const { workspaceId, interval } = budget;
  return database.kysely.transaction().execute(async (transaction) => {
    const workspace = await lockWorkspace(transaction, workspaceId);
    if (workspace === undefined) return undefined;
    const before = await transaction
      .selectFrom('workspace_budgets')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .execute();
    check([...before.map(toRow).filter((known) => known.interval !== interval), budget]);
    const columns = await transaction
      .insertInto('workspace_budgets')
      .values(toColumns(budget))
      .onConflict((conflict) =>
        conflict
          .columns(['workspace_id', 'interval'])
          .doUpdateSet({ limit_nano_usd: budget.limitNanoUsd, updated_at_ms: budget.updatedAtMs }),
      )
      .returningAll()
      .executeTakeFirstOrThrow();
    const includes = includeByok === undefined ? workspace.include_byok_in_budgets : flagOf(includeByok);
    await transaction
      .updateTable('workspaces')
      .set({ include_byok_in_budgets: includes })
      .where('id', '=', workspaceId)
      .execute();
    return { budget: toRow(columns), includeByok: includes === 1 };
  });
}
