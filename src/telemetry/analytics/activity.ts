import { invalid } from '../../canonical/gateway-error.ts';
import { usdFromNano } from '../../lib/money.ts';
import { uuidOf } from '../../lib/ids.ts';
import { DAY_MS } from '../../store/usage/hours.ts';
import type { UsageDimension, UsageMeasure } from '../../store/usage/usage-measures.ts';
import type { UsageFilter } from '../../store/usage/usage-sums.ts';
import type { Analytics } from './analytics.ts';

export interface ActivityInput {
  /** `2026-11-20`. */
  readonly date: string | undefined;
  readonly keyHash: string | undefined;
  readonly memberId: string | undefined;
  readonly workspaceId: string | undefined;
  readonly byWorkspace: boolean;
}

/** One UTC day of one model at one endpoint. Money is USD. */
export interface ActivityItem {
  readonly date: string;
  readonly model: string;
  readonly model_permaslug: string;
  readonly endpoint_id: string;
  readonly provider_name: string;
  readonly workspace_id?: string;
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly reasoning_tokens: number;
  readonly usage: number;
  readonly byok_usage_inference: number;
}

/** @spec analytics-1 */
const DAYS = 30;
/** A fixed namespace of our own. */
const ENDPOINTS = '6f1c9d0e-5a43-4f0b-9d0c-2f6f5c1f9a11';

const MEASURES = [
  'requests',
  'tokens_prompt',
  'tokens_completion',
  'tokens_reasoning',
  'cost_nano_usd',
  'byok_nano_usd',
] as const satisfies readonly UsageMeasure[];

/** @throws GatewayError 400 for a day outside of the window, 408 */
export async function serializeActivity(
  analytics: Pick<Analytics, 'read' | 'nowMs'>,
  input: ActivityInput,
): Promise<readonly ActivityItem[]> {
  const by: readonly UsageDimension[] = ['model', 'provider', 'upstream_model', 'workspace_id'];
  const groups = await analytics.read({
    ...windowOf(input.date, analytics.nowMs()),
    by: input.byWorkspace ? by : by.slice(0, -1),
    bucketMs: DAY_MS,
    measures: MEASURES,
    filters: [
      ...filterOf('key_hash', input.keyHash),
      ...filterOf('member_id', input.memberId),
      ...filterOf('workspace_id', input.workspaceId),
    ],
  });
  const items = groups.map(({ startMs, key, sums }): ActivityItem => {
    const [model = '', provider = '', upstreamModel = '', workspaceId] = key;
    const sum = (measure: (typeof MEASURES)[number]): number => sums[MEASURES.indexOf(measure)] ?? 0;
    return {
      date: new Date(startMs).toISOString().slice(0, 'YYYY-MM-DD'.length),
      model,
      model_permaslug: model,
      endpoint_id: uuidOf(ENDPOINTS, `${provider}/${upstreamModel}`),
      provider_name: provider,
      ...(workspaceId !== undefined && { workspace_id: workspaceId }),
      requests: sum('requests'),
      prompt_tokens: sum('tokens_prompt'),
      completion_tokens: sum('tokens_completion'),
      reasoning_tokens: sum('tokens_reasoning'),
      usage: usdFromNano(sum('cost_nano_usd')),
      byok_usage_inference: usdFromNano(sum('byok_nano_usd')),
    };
  });
  return items.toSorted((one, other) => compare(other.date, one.date) || compare(one.model, other.model));
}

function windowOf(date: string | undefined, nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const todayMs = nowMs - (nowMs % DAY_MS);
  const firstMs = todayMs - DAYS * DAY_MS;
  if (date === undefined) return { fromMs: firstMs, toMs: todayMs };
  const dayMs = Date.parse(date);
  if (!(dayMs >= firstMs && dayMs < todayMs))
    throw invalid('query.date', `must be one of the last ${DAYS} completed days`);
  return { fromMs: dayMs, toMs: dayMs + DAY_MS };
}

function filterOf(dimension: UsageDimension, value: string | undefined): readonly UsageFilter[] {
  return value === undefined ? [] : [{ dimension, values: [value], isNot: false }];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
