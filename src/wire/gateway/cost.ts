import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { FinalUsage } from '../format.ts';

/**
 * The members of `usage` that hold the cost, USD. `upstream_inference_cost` is there only where the caller pays the
 * provider, and `is_partial` (ours) where the price of a part is unknown. @spec money-7, money-9
 */
export function encodeCost({ charge, isByok }: Pick<FinalUsage, 'charge' | 'isByok'>): JsonObject {
  if (charge === undefined) return { cost: null, cost_details: null, is_byok: isByok };
  const { totalNanoUsd, promptNanoUsd, completionNanoUsd, isPartial = false } = charge;
  return {
    cost: usdFromNano(totalNanoUsd),
    cost_details: {
      upstream_inference_cost: isByok ? usdFromNano(promptNanoUsd + completionNanoUsd) : null,
      upstream_inference_prompt_cost: usdFromNano(promptNanoUsd),
      upstream_inference_completions_cost: usdFromNano(completionNanoUsd),
      ...(isPartial && { is_partial: true }),
    },
    is_byok: isByok,
  };
}
