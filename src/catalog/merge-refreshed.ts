import { movedFar } from './accept-prices.ts';
import type { KnownEndpoint, KnownModel } from './built-in.ts';
import { endpointKey } from './endpoint-key.ts';
import { listPriceOf } from './list-price.ts';
import { priceTableOf, type PriceTable } from './price.ts';
import { priceEntryOf, type RefreshedCatalog, type RefreshedEndpoint } from './refreshed.ts';

/** A price below this share of the model's other endpoints is an aggregator's, or a mistake. */
const SHARE_OF_OTHERS_MIN = 1 / 3;

/**
 * The project's models with the additions of a public list: missing facts, prices where none is known, and unknown
 * models, by their provider and the upstream's own name. The project's facts win, prices too, unless the operator lets
 * the list's prices win. @spec catalog-20
 */
export function mergeRefreshed(
  known: readonly KnownModel[],
  list: Pick<RefreshedCatalog, 'endpoints'>,
  { overridePrices }: { readonly overridePrices: boolean },
): readonly KnownModel[] {
  const rows = new Map(list.endpoints.map((row) => [endpointKey(row), row]));
  const merged = known.map((model) => mergeModel(model, rows, overridePrices));
  const names = new Set(known.flatMap(({ facts }) => [facts.slug, facts.canonicalSlug]));
  const unreviewed = [...rows.values()]
    .filter(({ provider, model }) => !names.has(`${provider}/${model}`))
    .map(unreviewedModel);
  return [...merged, ...unreviewed];
}

/** Takes the rows that it has used out of the map. */
function mergeModel(model: KnownModel, rows: Map<string, RefreshedEndpoint>, overridePrices: boolean): KnownModel {
  let first: RefreshedEndpoint | undefined;
  const endpoints = model.endpoints.map((endpoint) => {
    // The list has no rows for tiers.
    const { serviceTier: tier } = endpoint.facts;
    const key = endpointKey({ provider: endpoint.provider, model: endpoint.upstreamModel, tier });
    const row = rows.get(key);
    if (row === undefined) return endpoint;
    rows.delete(key);
    first ??= row;
    return mergeEndpoint(endpoint, row, otherPrices(model, endpoint), overridePrices);
  });
  return first === undefined ? model : { facts: { ...modelFacts(first), ...model.facts }, endpoints };
}

function otherPrices({ endpoints }: KnownModel, self: KnownEndpoint): readonly PriceTable[] {
  return endpoints.flatMap((other) => (other === self || other.facts.price === undefined ? [] : [other.facts.price]));
}

function mergeEndpoint(
  endpoint: KnownEndpoint,
  row: RefreshedEndpoint,
  others: readonly PriceTable[],
  overridePrices: boolean,
): KnownEndpoint {
  const { price: own } = endpoint.facts;
  const listed = row.price && priceTableOf(listPriceOf(priceEntryOf(row.price, '')));
  const mayFill = own === undefined && listed !== undefined && !isTooCheap(listed, others);
  const mayOverride = own !== undefined && listed !== undefined && overridePrices && !movedFar(listed, own);
  return {
    ...endpoint,
    facts: { ...limitsOf(row), ...endpoint.facts, ...((mayFill || mayOverride) && { price: listed }) },
  };
}

function isTooCheap(listed: PriceTable, others: readonly PriceTable[]): boolean {
  const sums = others.map(({ prompt, completion }) => prompt + completion).toSorted((one, other) => one - other);
  const middle = sums[sums.length >> 1];
  return middle !== undefined && listed.prompt + listed.completion < middle * SHARE_OF_OTHERS_MIN;
}

function unreviewedModel(row: RefreshedEndpoint): KnownModel {
  const price = row.price && priceTableOf(listPriceOf(priceEntryOf(row.price, '')));
  return {
    facts: {
      slug: `${row.provider}/${row.model}`,
      name: row.name,
      unreviewed: true,
      ...modelFacts(row),
    },
    endpoints: [
      {
        provider: row.provider,
        upstreamModel: row.model,
        facts: {
          inputModalities: row.input_modalities,
          outputModalities: row.output_modalities,
          ...limitsOf(row),
          ...(price !== undefined && { price }),
        },
      },
    ],
  };
}

function modelFacts(row: RefreshedEndpoint): Partial<KnownModel['facts']> {
  return {
    inputModalities: row.input_modalities,
    outputModalities: row.output_modalities,
    ...(row.released !== undefined && { released: row.released }),
    ...(row.knowledge_cutoff !== undefined && { knowledgeCutoff: row.knowledge_cutoff }),
    ...limitsOf(row),
  };
}

function limitsOf({ context_length: context, max_completion_tokens: output }: RefreshedEndpoint): {
  readonly contextTokensMax?: number;
  readonly outputTokensMax?: number;
} {
  return {
    ...(context !== undefined && { contextTokensMax: context }),
    ...(output !== undefined && { outputTokensMax: output }),
  };
}
