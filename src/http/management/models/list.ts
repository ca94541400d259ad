import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Model } from '../../../catalog/model.ts';
import { defineRoute, NO_BODY, NOTHING, type ListingServices, type RouteAnswer } from '../route.ts';
import { codexModels, type CodexModel } from './codex-models.ts';
import { filterModels, modelsQuery, type FilterFacts, type ModelsQuery } from './filters.ts';
import { serializeModel, modelSchema } from './model-shape.ts';
import { serializeVendorList, vendorListSchema } from './vendor-list.ts';
import { serializeRss, RSS_TYPE } from './rss.ts';

const PAGE_DEFAULT = 500;

export const modelsListSchema = z
  .strictObject({
    data: z.array(modelSchema),
    total_count: z.int(),
    links: z.strictObject({ next: z.string().nullable() }),
    models: z
      .array(z.looseObject({ slug: z.string() }))
      .optional()
      .describe('With `client_version`: as Codex reads them.'),
  })
  .meta({ id: 'ModelsListResponse' });

export const listModels = defineRoute({
  method: 'GET',
  path: '/models',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'getModels',
  tag: 'Models',
  summary: 'List the models that are served here',
  params: NOTHING,
  query: modelsQuery,
  body: NO_BODY,
  responses: {
    200: {
      description:
        "The models; in the messages vendor's shape for a client that sends `anthropic-version`; RSS with `use_rss=true`.",
      schema: z.union([modelsListSchema, vendorListSchema]),
    },
  },
  errors: [400],
  async handle({ query, headers, services: { listing } }): Promise<RouteAnswer> {
    const models = filterModels(listing.catalog.list(), query, filterFacts(listing));
    if (headers['anthropic-version'] !== undefined) return { status: 200, body: serializeVendorList(models, query) };
    if (query.use_rss === 'true')
      return { status: 200, contentType: RSS_TYPE, body: serializeRss(models, listing.baseUrl()) };
    const page = serializePage(models, query, `${listing.baseUrl()}/models`);
    if (query.client_version === undefined) return { status: 200, body: page };
    const { codexInstructions } = listing;
    const records =
      codexInstructions === undefined
        ? NO_CODEX_MODELS
        : codexModels(await modelsFor(headers, models, listing), codexInstructions);
    return { status: 200, body: { ...page, models: records } };
  },
});

/**
 * Codex names its version, and reads records of its own in `models`: a list without that member is an error to it, and an
 * empty one leaves the records that it brings along as they are (openai/codex#24286, 2026-03).
 */
const NO_CODEX_MODELS: readonly CodexModel[] = [];

/** What the key that was sent may use; without one, and with a wrong one, the list is as open as the list of models is. */
async function modelsFor(
  headers: IncomingHttpHeaders,
  models: readonly Model[],
  listing: ListingServices,
): Promise<readonly Model[]> {
  const caller = await listing.callerOf(headers);
  if (caller === undefined) return models;
  const isAllowed = await listing.allowedTo(caller);
  return models.filter((model) => model.endpoints.some((endpoint) => isAllowed(model, endpoint)));
}

export function filterFacts(listing: ListingServices): FilterFacts {
  const places = new Map(listing.providers().map(({ slug, datacenters }) => [slug, datacenters ?? []]));
  return {
    nowMs: listing.nowMs(),
    metricsOf: listing.metricsOf,
    isInRegion: ({ provider }, region) =>
      places.get(provider)?.some((country) => (region === 'us' ? country === 'US' : EU.has(country))) === true,
  };
}

/** Members of the European Union. */
const EU: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);

/** Returns one page, or everything where the query has no page. @spec catalog-4 */
export function serializePage(
  models: Parameters<typeof filterModels>[0],
  query: Pick<ModelsQuery, 'offset' | 'limit'>,
  address: string,
): z.output<typeof modelsListSchema> {
  const { offset = 0 } = query;
  const asksForPage = query.limit !== undefined || query.offset !== undefined;
  const limit = query.limit ?? (asksForPage ? PAGE_DEFAULT : models.length);
  const end = offset + limit;
  const rest = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || name === 'offset' || name === 'limit' ? [] : [[name, String(value)] as [string, string]],
  );
  const next = new URLSearchParams([...rest, ['offset', String(end)], ['limit', String(limit)]]);
  return {
    data: models.slice(offset, end).map(serializeModel),
    total_count: models.length,
    links: { next: end < models.length ? `${address}?${next.toString()}` : null },
  };
}
