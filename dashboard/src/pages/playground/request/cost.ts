import { isRecord } from '../../../api/errors.ts';
import type { Explanation } from '../../../api/explain.ts';
import { formatUsd, formatUsdShort } from '../../../parts/money.ts';

/** @param explanations of each column; undefined where the gateway refuses to explain */
export function sentenceOfCost(explanations: readonly (Explanation | undefined)[], models: readonly string[]): string {
  const unserved = models.filter((_, at) => (explanations[at]?.candidates.length ?? 0) === 0);
  if (unserved.length > 0) return `Before: no endpoint can serve ${unserved.join(', ')} now. Explain says why.`;
  const costs = explanations.map(costOf);
  const all = models.length === 1 ? '' : ` for all ${models.length}`;
  if (costs.some((cost) => cost === undefined))
    return `Before: the price${all === '' ? '' : ' of a column'} is unknown.`;
  const known = costs.filter((cost) => cost !== undefined);
  const prompt = sum(known.map((cost) => cost.prompt));
  const most = known.map((cost) => cost.most);
  const tokens = sum(known.map((cost) => cost.tokens)).toLocaleString('en-US');
  if (most.every((usd) => usd !== undefined))
    return `Before: about ${formatUsd(prompt)} $ for ${tokens} tokens in, at most ${formatUsd(sum(most))} $${all}`;
  const perThousand = sum(known.map((cost) => cost.perThousand));
  if (prompt === 0 && perThousand === 0) return `Before: about ${tokens} tokens in, free${all}`;
  return `Before: about ${formatUsd(prompt)} $ for ${tokens} tokens in, and ${formatUsdShort(perThousand)} $ for each 1,000 out${all}`;
}

interface Cost {
  readonly prompt: number;
  readonly most: number | undefined;
  readonly perThousand: number;
  readonly tokens: number;
}

/** By the first candidate, and at most by the dearest; undefined: its price is unknown. */
function costOf(explanation: Explanation | undefined): Cost | undefined {
  if (explanation === undefined) return undefined;
  const costs = explanation.candidates.map(({ estimated_cost: cost }) => (isRecord(cost) ? cost : {}));
  const price = explanation.candidates[0]?.['price'];
  const prompt = costs[0]?.['prompt'];
  if (typeof prompt !== 'number' || !isRecord(price)) return undefined;
  const most = costs.flatMap(({ max }) => (typeof max === 'number' ? [max] : []));
  return {
    prompt,
    most: most.length === costs.length ? Math.max(...most) : undefined,
    perThousand: (typeof price['completion'] === 'number' ? price['completion'] : 0) / 1_000,
    tokens: explanation.estimated_prompt_tokens,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
