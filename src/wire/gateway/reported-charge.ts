import type { Usage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectOf } from '../json-fields.ts';

const NANO_PER_USD = 1e9;
/** @source xAI docs, "Cost tracking", read 2026-11: a dollar has 10^10 ticks. */
const NANO_PER_TICK = 0.1;
/** More than a response costs: an amount beyond it is no amount of USD. */
const NANO_MAX = 10_000 * NANO_PER_USD;

/**
 * What a provider says that it charges for a response: `cost` of OpenRouter, `cost.total_cost` of Perplexity,
 * `cost_in_usd_ticks` of xAI, in the usage of both formats. Operators compare it with the price that the gateway knows.
 */
export function reportedCharge(usage: JsonObject): Pick<Usage, 'chargedNanoUsd'> {
  const ticks = usage['cost_in_usd_ticks'];
  const usd = objectOf(usage['cost'])?.['total_cost'] ?? usage['cost'];
  const nanoUsd =
    typeof ticks === 'number' ? ticks * NANO_PER_TICK : typeof usd === 'number' ? usd * NANO_PER_USD : Number.NaN;
  return nanoUsd >= 0 && nanoUsd <= NANO_MAX ? { chargedNanoUsd: Math.round(nanoUsd) } : {};
}
