import { z } from 'zod';
import type { GenerationPlace } from '../../../accounts/generation-lookup.ts';
import type { BacktestResult } from '../../../pipeline/backtest.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { decodeProviderPreferences, providerPreferences } from '../../../wire/gateway/provider-preferences.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { defineRoute, NOTHING, type ManagementServices } from '../route.ts';

const ROWS = 1_000;
const ROWS_MAX = 5_000;
const PAGE_ROWS = 500;
const LOOKED_AT_MAX = 200_000;

const count = z.int().nonnegative();
const ms = z.number().nullable();
const name = z.string().min(1).max(256).optional();

const bodySchema = z
  .strictObject({
    from: z.iso.datetime({ offset: true }).optional().describe('Default: 24 hours ago.'),
    to: z.iso.datetime({ offset: true }).optional(),
    key: name.describe('The hash of a key.'),
    workspace: name.describe('Its id.'),
    model: name.describe('The one that served; `acme/*` for all that begin so.'),
    limit: z.int().min(1).max(ROWS_MAX).optional().describe('Of the newest ones. Default 1,000.'),
    provider: providerPreferences.nullish().describe('Preferences in place of those that the requests had.'),
  })
  .meta({ id: 'BacktestRequest' });

const resultSchema = z
  .strictObject({
    requests: count.describe('That were planned again.'),
    since: z.iso.datetime().nullable().describe('The oldest of those. Null: there was none.'),
    is_whole: z.boolean().describe('The range has no more of them.'),
    skipped: z.strictObject({
      other_kinds: count.describe('Not generations.'),
      unknown_models: count.describe('The catalog has them no more.'),
      unusable_keys: count.describe('Disabled, deleted or expired.'),
    }),
    unserved: z.strictObject({
      count,
      ids: z.array(z.string()).describe('The newest 50 that no endpoint would serve.'),
    }),
    moved: count.describe('To another endpoint.'),
    cost: z
      .strictObject({ before: z.number(), after: z.number(), unpriced: count })
      .describe('USD, of those whose price is known both times.'),
    time_to_first_token: z
      .strictObject({ before: ms, after: ms })
      .describe('Medians: as it was, and as the endpoints do lately. Null: nothing is known.'),
    endpoints: z.array(z.strictObject({ provider: z.string(), model: z.string(), before: count, after: count })),
    assumptions: z.array(z.string()),
  })
  .meta({ id: 'BacktestResult' });

const ASSUMPTIONS = [
  'Each request has the tokens that it had, at the prices of now.',
  'Content is not kept: what a request demanded beside its model, such as tools, pictures or its own preferences, is left out.',
  'Endpoints are as healthy as they are now; sessions are tied to none of them.',
  'Every request is served by the first endpoint of its plan.',
] as const;

const DAY_HOURS = 24;
const HOUR = 3_600_000;

/** @spec route-43 */
export const backtestRoute = defineRoute({
  method: 'POST',
  path: '/route/backtest',
  scope: 'management',
  onlyReads: true,
  readsRecords: true,
  operationId: 'backtestRoute',
  tag: 'Operations',
  summary: 'What the last requests would have cost, and where they would have gone, under other preferences',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'The result.', schema: z.strictObject({ data: resultSchema }) } },
  errors: [400, 413],
  async handle({ body, services }) {
    const { rows, isWhole } = await read(body, services);
    const { provider } = body;
    const preferences =
      provider === undefined || provider === null ? undefined : decodeProviderPreferences(provider, undefined);
    const result = await services.backtest(rows, preferences);
    const oldest = rows.at(-1);
    return {
      status: 200,
      body: { data: serialize(result, oldest === undefined ? null : serializeTime(oldest.createdAtMs), isWhole) },
    };
  },
});

async function read(
  { from, to, key, workspace, model, limit = ROWS }: z.output<typeof bodySchema>,
  { generations, insights }: Pick<ManagementServices, 'generations' | 'insights'>,
) {
  const search = {
    fromMs: from === undefined ? insights.nowMs() - DAY_HOURS * HOUR : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
    lookedAtMax: LOOKED_AT_MAX,
    equal: {
      ...(key !== undefined && { key }),
      ...(workspace !== undefined && { workspace }),
      ...(model !== undefined && { model }),
    },
  };
  const rows: Awaited<ReturnType<typeof generations.search>>['rows'][number][] = [];
  let after: GenerationPlace | undefined;
  do {
    const page = await generations.search({
      ...search,
      limit: Math.min(PAGE_ROWS, limit - rows.length),
      ...(after !== undefined && { after }),
    });
    rows.push(...page.rows);
    after = page.next;
    // A look that ended at its bound is not repeated: what a backtest reads has one.
    if (page.endedEarly) break;
  } while (after !== undefined && rows.length < limit);
  return { rows, isWhole: after === undefined };
}

function serialize(result: BacktestResult, since: string | null, isWhole: boolean): z.output<typeof resultSchema> {
  const { skipped, costNanoUsd } = result;
  return {
    requests: result.requests,
    since,
    is_whole: isWhole,
    skipped: { other_kinds: skipped.kind, unknown_models: skipped.model, unusable_keys: skipped.key },
    unserved: { count: result.unservedCount, ids: [...result.unserved] },
    moved: result.moved,
    cost: {
      before: usdFromNano(costNanoUsd.before),
      after: usdFromNano(costNanoUsd.after),
      unpriced: result.unpriced,
    },
    time_to_first_token: { ...result.firstTokenMs },
    endpoints: result.endpoints.map((endpoint) => ({ ...endpoint })),
    assumptions: [...ASSUMPTIONS],
  };
}
