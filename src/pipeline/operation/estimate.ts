import type { BudgetEstimate } from '../../accounts/limits/ledger.ts';
import { estimateOperationTokens } from '../../canonical/estimate-tokens.ts';
import type { Operation } from '../../canonical/operation.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { costOf } from '../../catalog/price.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { ESTIMATE_MARGIN } from '../billing/cost-estimate.ts';

/** The most that the operation may come to cost: at the dearest endpoint. A count of tokens is exact. */
export function estimateOperation(
  { id, createdMs, request }: Pick<RequestLog<Operation>, 'id' | 'createdMs' | 'request'>,
  { candidates, cooling }: RoutePlan,
): BudgetEstimate {
  const margin = typeof request.inputs[0] === 'string' ? ESTIMATE_MARGIN : 1;
  const promptTokens = Math.ceil(estimateOperationTokens(request) * margin);
  const all = [...candidates, ...cooling.map(({ candidate }) => candidate)];
  const most = (some: readonly Candidate[]): number =>
    some.reduce((sum, { endpoint: { price } }) => {
      if (price === undefined) return sum;
      return Math.max(sum, costOf(price, { ...NO_USAGE, promptTokens }, { atMs: createdMs }).totalNanoUsd);
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
