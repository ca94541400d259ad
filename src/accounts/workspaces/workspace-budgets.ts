import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { BudgetInterval, BudgetRow } from '../../resources/workspace-parts.ts';
import type { BudgetStore } from '../../store/accounts/workspace-budgets.ts';
import type { Workspaces } from './workspaces.ts';

export type WorkspaceBudget = BudgetRow;

/** The broadest first, which is the order of lists. */
const BUDGET_INTERVALS = ['lifetime', 'monthly', 'weekly', 'daily'] as const satisfies readonly BudgetInterval[];

export interface WorkspaceBudgets {
  /** Lists the broadest first. @throws GatewayError 404 when there is no such workspace */
  list(idOrSlug: string): Promise<BudgetsOfWorkspace>;
  /** @throws GatewayError 404 when there is no such workspace, or no such budget of it */
  get(idOrSlug: string, interval: BudgetInterval): Promise<OneBudget>;
  /**
   * @param includeByok applies to all budgets of the workspace; `undefined`: it stays as it is
   * @throws GatewayError 400 unless a broader interval has the larger limit, 404 when there is no such workspace
   */
  put(
    idOrSlug: string,
    interval: BudgetInterval,
    limitNanoUsd: number,
    includeByok: boolean | undefined,
  ): Promise<OneBudget>;
  /** Deletes a budget, if there is one. @throws GatewayError 404 when there is no such workspace */
  delete(idOrSlug: string, interval: BudgetInterval): Promise<void>;
}

export interface BudgetsOfWorkspace {
  readonly budgets: readonly WorkspaceBudget[];
  readonly includeByok: boolean;
}

export interface OneBudget {
  readonly budget: WorkspaceBudget;
  readonly includeByok: boolean;
}

export interface WorkspaceBudgetsDeps {
  readonly store: BudgetStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly clock: Clock;
  /** Runs when rules of requests have changed. */
  readonly onChange: () => void;
}

export function createWorkspaceBudgets(deps: WorkspaceBudgetsDeps): WorkspaceBudgets {
  const { store, workspaces, clock, onChange } = deps;
  const list: WorkspaceBudgets['list'] = async (idOrSlug) => {
    const { id, includeByokInBudgets } = await workspaces.get(idOrSlug);
    return { budgets: sortBudgets(await store.list(id)), includeByok: includeByokInBudgets };
  };
  return {
    list,
    async get(idOrSlug, interval) {
      const { budgets, includeByok } = await list(idOrSlug);
      const budget = budgets.find((known) => known.interval === interval);
      if (budget === undefined) throw new GatewayError('not_found', `The workspace has no ${interval} budget.`);
      return { budget, includeByok };
    },
    async put(idOrSlug, interval, limitNanoUsd, includeByok) {
      const { id: workspaceId } = await workspaces.get(idOrSlug);
      const nowMs = clock.nowMs();
      const wanted = { id: randomUUID(), workspaceId, interval, limitNanoUsd, createdAtMs: nowMs, updatedAtMs: nowMs };
      const stored = await store.put(wanted, includeByok, checkOrder);
      if (stored === undefined) throw new GatewayError('not_found', 'There is no such workspace.');
      onChange();
      return stored;
    },
    async delete(idOrSlug, interval) {
      const { id } = await workspaces.get(idOrSlug);
      await store.remove(id, interval);
      onChange();
    },
  };
}

export function sortBudgets(budgets: readonly WorkspaceBudget[]): readonly WorkspaceBudget[] {
  return BUDGET_INTERVALS.flatMap((interval) => budgets.filter((budget) => budget.interval === interval));
}

/**
 * Checks the order of limits: a limit that a narrower interval always reaches first would never count. @spec
 * workspace-8
 */
function checkOrder(budgets: readonly WorkspaceBudget[]): void {
  const sorted = sortBudgets(budgets);
  sorted.forEach((narrower, index) => {
    const broader = sorted[index - 1];
    if (broader === undefined || broader.limitNanoUsd > narrower.limitNanoUsd) return;
    throw invalid('limit_usd', `the ${serializeBudget(broader)} must be above the ${serializeBudget(narrower)}`);
  });
}

function serializeBudget({ interval, limitNanoUsd }: WorkspaceBudget): string {
  return `${interval} budget of ${usdFromNano(limitNanoUsd)} USD`;
}
