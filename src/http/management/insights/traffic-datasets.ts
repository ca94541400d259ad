import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { rankApps } from '../../../telemetry/datasets/app-rankings.ts';
import { lastDays, parseDates, type DateRange } from '../../../telemetry/datasets/date-range.ts';
import { rankModels } from '../../../telemetry/datasets/rankings.ts';
import { TURN_RANGES } from '../../../telemetry/datasets/session-costs.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const TAG = 'Datasets';
/** Records are read: they are not summed up by what made them. */
const DAYS_MAX = 92;
const APP_DAYS_MAX = 31;
const KEYS_MIN_MAX = 1_000;
const NAME_CHARS_MAX = 256;
const APPS_MAX = 100;
const CELLS_MAX = 500;
const CELLS_OFFSET_MAX = 5_000;
const WINDOW_DAYS = 7;

const dates = {
  start_date: z.iso.date().optional().describe('UTC, inclusive. Default: 30 days to the end. Never before 2025-01-01.'),
  end_date: z.iso.date().optional().describe('UTC, inclusive. Default and latest: yesterday.'),
};
const minGroup = z.coerce.number().pipe(z.int().min(1).max(KEYS_MIN_MAX)).optional();
const unknown = z.string().max(NAME_CHARS_MAX).optional().describe('Refused: nothing here classifies traffic so.');
const text = z.string().max(NAME_CHARS_MAX).optional();

/** @source `@openrouter/sdk` 1.3.19, `RankingsDailyMeta` */
const metaShape = { as_of: z.iso.date(), version: z.literal('v1') };
const datesMetaSchema = z
  .strictObject({ ...metaShape, start_date: z.iso.date(), end_date: z.iso.date() })
  .meta({ id: 'DatasetMeta' });

function serializeMeta({ startDate, endDate }: DateRange, nowMs: number): z.output<typeof datesMetaSchema> {
  return { as_of: lastDays(1, nowMs).endDate, version: 'v1', start_date: startDate, end_date: endDate };
}

/** Valid for the public route, and answered there from data that only its operator has. */
function refuseUnknown(given: Readonly<Record<string, string | undefined>>): void {
  const name = Object.keys(given).find((each) => given[each] !== undefined);
  if (name !== undefined) throw invalid(`query.${name}`, 'is not there for local traffic: nothing classifies it so');
}

/** @spec dataset-1 */
export const getRankingsDaily = defineRoute({
  method: 'GET',
  path: '/datasets/rankings-daily',
  scope: 'management',
  readsRecords: true,
  operationId: 'getRankingsDaily',
  tag: TAG,
  summary: 'The models with the most tokens of callers, by day, week or month',
  params: NOTHING,
  query: z.strictObject({
    ...dates,
    period: z.enum(['day', 'week', 'month']).optional().describe('Default: day. Weeks begin on Monday.'),
    min_group: minGroup.describe('Models that fewer keys used join `other`. Default: 1.'),
    modality: unknown,
    context_bucket: unknown,
    category: unknown,
    language_type: unknown,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'At most 50 models for each date, and `other` for the rest, last within its date.',
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              date: z.iso.date(),
              model_permaslug: z.string(),
              total_tokens: z.string().describe('A decimal number.'),
            })
            .meta({ id: 'ModelRanking' }),
        ),
        meta: datesMetaSchema,
      }),
    },
  },
  errors: [400, 408, 429],
  async handle({ principal, query, services: { analytics, insights } }) {
    assert(principal !== undefined, 'only a key gets here');
    await insights.take(principal);
    const { start_date: start, end_date: end, period = 'day', min_group: keysMin = 1, ...rest } = query;
    refuseUnknown(rest);
    const nowMs = insights.nowMs();
    const range = parseDates({ start, end }, nowMs, DAYS_MAX);
    const ranks = await rankModels(analytics, range, period, keysMin);
    const data = ranks.map(({ date, model, tokens }) => ({
      date,
      model_permaslug: model,
      total_tokens: String(tokens),
    }));
    return { status: 200, body: { data, meta: serializeMeta(range, nowMs) } };
  },
});

/** @spec dataset-3 */
export const getAppRankings = defineRoute({
  method: 'GET',
  path: '/datasets/app-rankings',
  scope: 'management',
  readsRecords: true,
  operationId: 'getAppRankings',
  tag: TAG,
  summary: 'The applications with the most tokens, or the most growth',
  params: NOTHING,
  query: z.strictObject({
    ...dates,
    sort: z
      .enum(['popular', 'trending'])
      .optional()
      .describe('Default: popular. Trending: requests over the mean of the three equal times before.'),
    limit: z.coerce.number().pipe(z.int().min(1).max(APPS_MAX)).optional().describe('Default: 50.'),
    offset: z.coerce.number().pipe(z.int().min(0).max(APPS_MAX)).optional(),
    min_group: minGroup.describe('Applications that fewer keys used are left out. Default: 1.'),
    category: unknown,
    subcategory: unknown,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The first ones first.',
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              rank: z.int(),
              app_id: z.int(),
              app_name: z.string(),
              total_tokens: z.string().describe('A decimal number.'),
              total_requests: z.int(),
            })
            .meta({ id: 'AppRanking' }),
        ),
        meta: datesMetaSchema,
      }),
    },
  },
  errors: [400, 408, 429],
  async handle({ principal, query, services: { analytics, insights } }) {
    assert(principal !== undefined, 'only a key gets here');
    await insights.take(principal);
    const { start_date: start, end_date: end, sort = 'popular', limit = 50, offset = 0, ...others } = query;
    const { min_group: keysMin = 1, ...rest } = others;
    refuseUnknown(rest);
    const nowMs = insights.nowMs();
    const range = parseDates({ start, end }, nowMs, APP_DAYS_MAX);
    const ranks = await rankApps(analytics, range, sort, keysMin);
    const data = ranks.slice(offset, offset + limit).map(({ rank, appId, appName, tokens, requests }) => ({
      rank,
      app_id: appId,
      app_name: appName,
      total_tokens: String(tokens),
      total_requests: requests,
    }));
    return { status: 200, body: { data, meta: serializeMeta(range, nowMs) } };
  },
});

/** @spec dataset-4 */
export const getSessionCost = defineRoute({
  method: 'GET',
  path: '/datasets/session-cost',
  scope: 'management',
  readsRecords: true,
  operationId: 'getSessionCost',
  tag: TAG,
  summary: 'What a session costs: the median by application, model and number of turns, of the last seven days',
  params: NOTHING,
  query: z.strictObject({
    app_slug: text.describe('The address of an application.'),
    model: text,
    turn_range: z.enum(TURN_RANGES).optional(),
    limit: z.coerce.number().pipe(z.int().min(1).max(CELLS_MAX)).optional().describe('Default: 100.'),
    offset: z.coerce.number().pipe(z.int().min(0).max(CELLS_OFFSET_MAX)).optional(),
    min_group: minGroup.describe('Cells of fewer keys are left out. Default: 1.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The cells with the most sessions first.',
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              app_slug: z.string().describe('Its address; empty: the requests named none.'),
              app_name: z.string(),
              model_permaslug: z.string(),
              turn_range: z.enum(TURN_RANGES),
              median_session_cost_usd: z.number(),
              sessions: z.int(),
            })
            .meta({ id: 'SessionCost' }),
        ),
        meta: z
          .strictObject({ ...metaShape, window_days: z.int(), window_end_date: z.iso.date() })
          .meta({ id: 'SessionCostMeta' }),
      }),
    },
  },
  errors: [400, 429],
  async handle({ principal, query, services: { insights } }) {
    assert(principal !== undefined, 'only a key gets here');
    await insights.take(principal);
    const { app_slug: appUrl, model, turn_range: turnRange, limit = 100, offset = 0, min_group: keysMin = 1 } = query;
    const { fromMs, toMs, endDate } = lastDays(WINDOW_DAYS, insights.nowMs());
    const cells = await insights.sessionCosts({ fromMs, toMs, appUrl, model, turnRange, keysMin, limit, offset });
    const data = cells.map((cell) => ({
      app_slug: cell.appUrl,
      app_name: cell.appName,
      model_permaslug: cell.model,
      turn_range: cell.turnRange,
      median_session_cost_usd: usdFromNano(cell.medianNanoUsd),
      sessions: cell.sessions,
    }));
    const meta = { as_of: endDate, version: 'v1' as const, window_days: WINDOW_DAYS, window_end_date: endDate };
    return { status: 200, body: { data, meta } };
  },
});
