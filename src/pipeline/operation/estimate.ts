import type { BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { Operation } from '../../canonical/operation.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import type { Usage } from '../../canonical/usage.ts';
import { costOf } from '../../catalog/price.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { atLeast } from '../billing/least-units.ts';

/**
 * The most that the operation may come to cost: at the dearest endpoint.
 * @param margin by how much its estimated tokens may be too few
 */
export function estimateOperation(
  { id, createdMs, request }: Pick<RequestLog<Operation>, 'id' | 'createdMs' | 'request'>,
  margin: number,
  { candidates, cooling }: RoutePlan,
): BudgetEstimate {
  const estimated = estimateOperationUsage(request);
  const usage: Usage = {
    ...estimated,
    promptTokens: Math.ceil(estimated.promptTokens * margin),
    completionTokens: Math.ceil(estimated.completionTokens * margin),
  };
  const all = [...candidates, ...cooling.map(({ candidate }) => candidate)];
  const most = (some: readonly Candidate[]): number =>
    some.reduce((sum, { endpoint }) => {
      if (endpoint.price === undefined) return sum;
      const cost = costOf(endpoint.price, atLeast(usage, endpoint), { atMs: createdMs, isWorst: true });
      return Math.max(sum, cost?.totalNanoUsd ?? 0);
    }, 0);
  const worst = {
    ownNanoUsd: most(all.filter(({ credential }) => credential === undefined)),
    byokNanoUsd: most(all.filter(({ credential }) => credential !== undefined)),
  };
  const total = Math.max(worst.ownNanoUsd, worst.byokNanoUsd);
  return {
    generationId: id,
    worst,
    // Nothing is written: the money pays for the prompt, or for nothing.
    affordableTokens: (nanoUsd) => (nanoUsd >= total ? Infinity : 0),
  };
}
