import { INTERNAL_ORIGINS } from '../../canonical/generation-origin.ts';
import { DAY_MS } from '../../store/usage/hours.ts';
import type { UsageMeasure } from '../../store/usage/usage-measures.ts';
import type { UsageFilter } from '../../store/usage/usage-sums.ts';
import type { Analytics } from '../analytics/analytics.ts';
import { dateOf, type DateRange } from './date-range.ts';

export type Period = 'day' | 'week' | 'month';

/** One model in one period. */
export interface ModelRank {
  /** The first day of the period, UTC. */
  readonly date: string;
  readonly model: string;
  readonly tokens: bigint;
}

/** What stands for all models that are not listed, last within its date. */
const OTHER = 'other';
const MODELS_MAX = 50;
const MEASURES = ['tokens_prompt', 'tokens_completion'] as const satisfies readonly UsageMeasure[];
/** What the gateway made for itself is no usage of a model by callers. */
const CALLERS_ONLY: UsageFilter = { dimension: 'origin', values: INTERNAL_ORIGINS, isNot: true };

interface Sum {
  tokens: bigint;
  readonly keys: Set<string>;
}

/**
 * The models with the most tokens in each period, and the rest as one row.
 * @param keysMin models that fewer keys used are part of the rest
 * @throws GatewayError 400 where there are too many groups, 408
 */
export async function rankModels(
  analytics: Pick<Analytics, 'read'>,
  { fromMs, toMs }: DateRange,
  period: Period,
  keysMin: number,
): Promise<readonly ModelRank[]> {
  const groups = await analytics.read({
    fromMs,
    toMs,
    by: keysMin > 1 ? ['model', 'key_hash'] : ['model'],
    // Months differ in length: they are added up from days here.
    bucketMs: period === 'week' ? 7 * DAY_MS : DAY_MS,
    measures: MEASURES,
    filters: [CALLERS_ONLY],
  });
  const dates = new Map<string, Map<string, Sum>>();
  for (const { startMs, key, sums } of groups) {
    const date = period === 'month' ? `${dateOf(startMs).slice(0, 'YYYY-MM'.length)}-01` : dateOf(startMs);
    const models = dates.get(date) ?? new Map<string, Sum>();
    dates.set(date, models);
    const [model = '', keyHash = ''] = key;
    const sum = models.get(model) ?? { tokens: 0n, keys: new Set() };
    models.set(model, sum);
    for (const tokens of sums) sum.tokens += BigInt(Math.round(tokens));
    sum.keys.add(keyHash);
  }
  return [...dates]
    .toSorted(([one], [two]) => (one < two ? -1 : 1))
    .flatMap(([date, models]) => rankDate(date, models, keysMin));
}

function rankDate(date: string, models: ReadonlyMap<string, Sum>, keysMin: number): readonly ModelRank[] {
  const used = [...models].filter(([, { tokens }]) => tokens > 0n);
  const isListed = ([model, { keys }]: (typeof used)[number]): boolean => model !== '' && keys.size >= keysMin;
  const listed = used
    .filter(isListed)
    .toSorted(([one, a], [two, b]) => (a.tokens === b.tokens ? (one < two ? -1 : 1) : a.tokens > b.tokens ? -1 : 1))
    .slice(0, MODELS_MAX);
  const all = used.reduce((sum, [, { tokens }]) => sum + tokens, 0n);
  const rest = listed.reduce((sum, [, { tokens }]) => sum - tokens, all);
  return [
    ...listed.map(([model, { tokens }]) => ({ date, model, tokens })),
    ...(rest > 0n ? [{ date, model: OTHER, tokens: rest }] : []),
  ];
}
