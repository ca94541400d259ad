import { INTERNAL_ORIGINS } from '../../canonical/generation-origin.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Analytics } from '../analytics/analytics.ts';
import type { DateRange } from './date-range.ts';

export interface AppRank {
  /** Of all applications, whatever part of the list is returned. */
  readonly rank: number;
  readonly appId: number;
  readonly appName: string;
  readonly tokens: bigint;
  readonly requests: number;
}

type AppSum = Omit<AppRank, 'rank'> & { readonly keys: number };

const ROWS_MAX = 10_000;
/** What growth is measured against. */
const WINDOWS_BEFORE = 3;

/**
 * Applications by tokens, or by how much they grew.
 * @param keysMin applications that fewer keys used are left out
 * @throws GatewayError 400 where there are too many applications, 408
 */
export async function rankApps(
  analytics: Pick<Analytics, 'query'>,
  { fromMs, toMs }: DateRange,
  sort: 'popular' | 'trending',
  keysMin: number,
): Promise<readonly AppRank[]> {
  const apps = [...(await sumApps(analytics, fromMs, toMs)).values()].filter(({ keys }) => keys >= keysMin);
  const growthOf = sort === 'trending' ? await readGrowth(analytics, fromMs, toMs) : undefined;
  const score = (app: AppSum): number => growthOf?.(app) ?? Number(app.tokens);
  return apps
    .toSorted((one, two) => score(two) - score(one) || two.requests - one.requests || one.appId - two.appId)
    .map(({ keys: _keys, ...app }, index) => ({ rank: index + 1, ...app }));
}

/** Requests over the mean of the windows before; one without any counts as one request, so that growth has a number. */
async function readGrowth(analytics: Pick<Analytics, 'query'>, fromMs: number, toMs: number) {
  const lengthMs = toMs - fromMs;
  const before: ReadonlyMap<number, AppSum>[] = [];
  for (let at = 1; at <= WINDOWS_BEFORE; at++)
    before.push(await sumApps(analytics, fromMs - at * lengthMs, toMs - at * lengthMs));
  return ({ appId, requests }: AppSum): number => {
    const sum = before.reduce((total, window) => total + Math.max(1, window.get(appId)?.requests ?? 0), 0);
    return requests / (sum / WINDOWS_BEFORE);
  };
}

async function sumApps(
  analytics: Pick<Analytics, 'query'>,
  fromMs: number,
  toMs: number,
): Promise<ReadonlyMap<number, AppSum>> {
  const { rows, truncated } = await analytics.query({
    metrics: ['tokens_total', 'request_count'],
    dimensions: ['app', 'api_key_id'],
    filters: [{ field: 'request_origin', operator: 'not_in', value: INTERNAL_ORIGINS }],
    time_range: { start: new Date(fromMs).toISOString(), end: new Date(toMs).toISOString() },
    limit: ROWS_MAX,
  });
  // A partial sum looks like a complete one.
  if (truncated)
    throw new GatewayError('invalid_request', 'There are too many applications and keys: request a shorter time.');
  const apps = new Map<number, AppSum>();
  for (const { app, app__id: id, tokens_total: tokens, request_count: requests } of rows) {
    if (typeof id !== 'number') continue;
    const before = apps.get(id);
    apps.set(id, {
      appId: id,
      appName: String(app ?? ''),
      tokens: (before?.tokens ?? 0n) + BigInt(Math.round(Number(tokens ?? 0))),
      requests: (before?.requests ?? 0) + Number(requests ?? 0),
      keys: (before?.keys ?? 0) + 1,
    });
  }
  return apps;
}
