import { z } from 'zod';
import type { GenerationPlace, GenerationSearch } from '../../../accounts/generation-lookup.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { GENERATION_ORIGINS } from '../../../canonical/generation-origin.ts';
import { OPERATION_KINDS } from '../../../canonical/operation.ts';
import { nanoFromUsd } from '../../../lib/money.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { filterSchema, timeShape } from '../page.ts';
import { sightOf, type GenerationSight } from './sight.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeListed } from './serialize-listed.ts';

const ROWS = 50;
const ROWS_MAX = 500;
/** Some 160 ms in SQLite. */
const LOOKED_AT_MAX = 200_000;
const USD_MAX = 1_000_000;
const MS_MAX = 86_400_000;

const text = z.string().nullable();
const count = z.int().nullable();
const ms = z.number().nullable();

/** Not `origin`, which is the address of the application. */
export const requestOriginSchema = z
  .enum(['request', ...GENERATION_ORIGINS])
  .describe('What made it: a request of a caller, or the named part of the gateway.');

/** The members that a list needs; `GET /generation` has all. */
export const generationListItemSchema = z
  .strictObject({
    id: z.string(),
    request_id: text,
    session_id: text,
    created_at: z.iso.datetime(),
    workspace_id: text,
    api_key_hash: z.string(),
    api_key_name: text.describe('Null: a key from the environment.'),
    api_type: z.enum(['completions', ...OPERATION_KINDS]),
    status: z.int().describe('The HTTP status that the caller saw.'),
    error_type: text,
    requested_model: z.string().describe('As the caller spelled it.'),
    model: z.string().describe('The one that served; where none did, the requested one.'),
    provider: text.describe('Its slug, as filters take it.'),
    provider_name: text,
    upstream_model: text,
    router: text,
    service_tier: text,
    is_byok: z.boolean(),
    streamed: z.boolean(),
    cancelled: z.boolean(),
    finish_reason: text,
    tokens_prompt: count,
    tokens_completion: count,
    native_tokens_reasoning: count,
    native_tokens_cached: count,
    tokens_cache_write: count,
    usage_source: z.enum(['upstream', 'estimated', 'none']),
    total_cost: z.number().nullable().describe('USD. Null: the price is unknown, which is not zero.'),
    cache_discount: z.number().nullable(),
    latency: ms,
    time_to_first_token: ms,
    generation_time: ms,
    task_type: text,
    preset_id: text,
    external_user: text,
    app_title: text,
    origin: z.string(),
    country: text,
    attempts: z.int(),
    is_rescued: z.boolean(),
    is_cached: z.boolean(),
    warnings: z.int(),
    tool_calls: count,
    request_origin: requestOriginSchema,
  })
  .meta({ id: 'GenerationListItem' });

const flag = z.enum(['true', 'false']).optional();

/** What selects generations, in a query. */
export const filterShape = {
  ...timeShape,
  status: z
    .string()
    .regex(/^(?:2xx|4xx|5xx|error|cancelled|[1-5]\d\d)$/, 'must be 2xx, 4xx, 5xx, error, cancelled or a status')
    .optional()
    .describe('A class, `error` for 400 and more, `cancelled`, or one status.'),
  model: filterSchema.describe('The one that served; `acme/*` for all that begin so.'),
  requested: filterSchema.describe('As the caller spelled it; may end in `*`, too.'),
  provider: filterSchema.describe('Its slug.'),
  key: filterSchema.describe('The hash of a key.'),
  workspace: filterSchema.describe('Its id.'),
  session: filterSchema,
  request_id: filterSchema,
  user: filterSchema.describe('The hash that stands for an end user.'),
  app: filterSchema.describe('The title or the address of an application.'),
  preset: filterSchema,
  router: filterSchema,
  task: filterSchema,
  finish: filterSchema,
  request_origin: requestOriginSchema.optional(),
  cached: flag.describe('Answered from the response cache.'),
  byok: flag,
  rescued: flag.describe('Continued by mid-stream failover.'),
  warned: flag,
  min_cost: z.coerce.number().min(0).max(USD_MAX).optional().describe('USD.'),
  min_ms: z.coerce.number().int().min(0).max(MS_MAX).optional(),
  min_ttft: z.coerce.number().int().min(0).max(MS_MAX).optional().describe('Time to the first token, ms.'),
};
type Filters = z.output<z.ZodObject<typeof filterShape>>;

export const listGenerations = defineRoute({
  method: 'GET',
  path: '/generations',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  operationId: 'listGenerations',
  tag: 'Generations',
  summary: 'List generations, newest first; a normal key sees its own',
  params: NOTHING,
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(ROWS_MAX).optional().describe('Default 50.'),
    cursor: filterSchema.describe('`next_cursor` of the page before.'),
    ...filterShape,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'A page. At most 200,000 records are looked at for it.',
      schema: z.strictObject({
        data: z.array(generationListItemSchema),
        next_cursor: text.describe('Null: the range holds no more.'),
        searched_to: z.iso
          .datetime()
          .nullable()
          .describe('The look ended at this record, at its bound: there may be more behind. Null: it did not.'),
        looked_at: count.describe('Records that were looked at. Null for normal keys, since others are among them.'),
      }),
    },
  },
  errors: [400],
  users: 'narrowed',
  async handle({ query, services, ...context }) {
    const { limit = ROWS, cursor, ...filters } = query;
    const sight = sightOf(context);
    const { rows, next, endedEarly, lookedAt } = await services.generations.search({
      ...searchOf(filters, sight),
      limit,
      ...(cursor !== undefined && { after: decodeCursor(cursor) }),
    });
    const names = await services.generations.keyNames([...new Set(rows.map(({ keyHash }) => keyHash))]);
    return {
      status: 200,
      body: {
        data: rows.map((row) => serializeListed(row, names.get(row.keyHash) ?? null)),
        next_cursor: next === undefined ? null : encodeCursor(next),
        searched_to: endedEarly && next !== undefined ? serializeTime(next.createdAtMs) : null,
        looked_at: Object.keys(sight).length === 0 ? lookedAt : null,
      },
    };
  },
});

/** @param sight what the caller sees at all */
export function searchOf(query: Filters, sight: GenerationSight): Omit<GenerationSearch, 'limit'> {
  const { status, from, to, min_cost: cost } = query;
  const { model, requested, provider, key, workspace, session, user, app, preset, router, task, finish } = query;
  const texts = { model, requested, provider, key, workspace, session, user, app, preset, router, task, finish };
  const equal = Object.fromEntries(
    Object.entries({ ...texts, requestId: query.request_id }).filter(([, value]) => value !== undefined),
  );
  return {
    lookedAtMax: LOOKED_AT_MAX,
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
    equal,
    ...sight,
    status: parseStatus(status),
    origin: query.request_origin,
    isCached: parseFlag(query.cached),
    isByok: parseFlag(query.byok),
    isRescued: parseFlag(query.rescued),
    isWarned: parseFlag(query.warned),
    costMinNanoUsd: cost === undefined ? undefined : nanoFromUsd(cost),
    latencyMinMs: query.min_ms,
    firstTokenMinMs: query.min_ttft,
  };
}

const NAMED_STATUSES = ['2xx', '4xx', '5xx', 'error', 'cancelled'] as const;

function parseStatus(status: string | undefined): GenerationSearch['status'] {
  if (status === undefined) return undefined;
  return NAMED_STATUSES.find((named) => named === status) ?? Number(status);
}

function parseFlag(value: 'true' | 'false' | undefined): boolean | undefined {
  return value === undefined ? undefined : value === 'true';
}

function encodeCursor({ createdAtMs, id }: GenerationPlace): string {
  return Buffer.from(`${createdAtMs} ${id}`).toString('base64url');
}

/** @throws GatewayError 400 for what no page gave */
function decodeCursor(cursor: string): GenerationPlace {
  const [, at, id] = /^(\d{1,16}) (\S{0,256})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (at === undefined || id === undefined) throw invalid('query.cursor', 'is not the next_cursor of a page');
  return { createdAtMs: Number(at), id };
}
