import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { FinalUsage } from '../format.ts';

/** What chat and messages call the parts of the provider's price. */
const CHAT_PARTS = {
  prompt: 'upstream_inference_prompt_cost',
  completion: 'upstream_inference_completions_cost',
};

/**
 * The members of `usage` that hold the cost, USD. `upstream_inference_cost` is there only where the caller pays the
 * provider, and `is_partial` (ours) where the price of a part is unknown. @spec money-7, money-9
 */
export function encodeCost({ charge, isByok }: Pick<FinalUsage, 'charge' | 'isByok'>, parts = CHAT_PARTS): JsonObject {
  if (charge === undefined) return { cost: null, cost_details: null, is_byok: isByok };
  const { totalNanoUsd, promptNanoUsd, completionNanoUsd, isPartial = false } = charge;
  return {
    cost: usdFromNano(totalNanoUsd),
    cost_details: {
      upstream_inference_cost: isByok ? usdFromNano(promptNanoUsd + completionNanoUsd) : null,
      [parts.prompt]: usdFromNano(promptNanoUsd),
      [parts.completion]: usdFromNano(completionNanoUsd),
      ...(isPartial && { is_partial: true }),
    },
    is_byok: isByok,
  };
}
