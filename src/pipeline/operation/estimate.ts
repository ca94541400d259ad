import type { BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { Operation } from '../../canonical/operation.ts';
import { estimateOperationUsage } from '../../canonical/operation-usage.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { costOf } from '../../catalog/price.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import { countPromptImages } from '../billing/prompt-images.ts';
import { atLeast } from '../billing/least-units.ts';
import type { WorstUse } from './kind-steps.ts';

/**
 * The most that the operation may come to cost: at the dearest endpoint.
 * @param margin by how much its estimated tokens may be too few
 * @param worst the most that it may use at one of them; absent: what the operation says
 */
export function estimateOperation<Op extends Operation>(
  { id, createdMs, request }: Pick<RequestLog<Op>, 'id' | 'createdMs' | 'request'>,
  margin: number,
  { candidates, cooling }: RoutePlan,
  worst: (usage: Usage, endpoint: Endpoint, operation: Op) => WorstUse = asEstimated,
): BudgetEstimate {
  const usages = usagesOf(request, margin);
  const promptImages = countPromptImages(request);
  const all = [...candidates, ...cooling.map(({ candidate }) => candidate)];
  const most = (some: readonly Candidate[]): number =>
    some.reduce((sum, { endpoint }) => {
      if (endpoint.price === undefined) return sum;
      const { price } = endpoint;
      const costs = usages.map((usage) => {
        const use = worst(atLeast(usage, endpoint), endpoint, request);
        const cost = costOf(price, use.usage, { atMs: createdMs, isWorst: true, promptImages });
        return cost.totalNanoUsd + use.moreNanoUsd;
      });
      return Math.max(sum, ...costs);
    }, 0);
  const reserved = {
    ownNanoUsd: most(all.filter(({ credential }) => credential === undefined)),
    byokNanoUsd: most(all.filter(({ credential }) => credential !== undefined)),
  };
  const total = Math.max(reserved.ownNanoUsd, reserved.byokNanoUsd);
  return {
    generationId: id,
    worst: reserved,
    // Nothing is written: the money pays for the prompt, or for nothing.
    affordableTokens: (nanoUsd) => (nanoUsd >= total ? Infinity : 0),
  };
}

/** With the parts that may cost otherwise, and without: not every provider counts them apart. */
function usagesOf(request: Operation, margin: number): readonly Usage[] {
  const estimated = estimateOperationUsage(request);
  const most = (tokens: number): number => Math.ceil(tokens * margin);
  const parts: Partial<Record<(typeof PARTS)[number], number>> = {};
  for (const part of PARTS) if (estimated[part] !== undefined) parts[part] = most(estimated[part]);
  const promptTokens = most(estimated.promptTokens);
  const completionTokens = most(estimated.completionTokens);
  const counted: Usage = { ...estimated, promptTokens, completionTokens, ...parts };
  const { imagePromptTokens: _images, audioPromptTokens: _sounds, ...plain } = counted;
  return plain.promptTokens === 0 ? [counted] : [counted, plain];
}

const PARTS = ['imagePromptTokens', 'audioPromptTokens', 'audioCompletionTokens'] as const;

function asEstimated(usage: Usage): WorstUse {
  return { usage, moreNanoUsd: 0 };
}
