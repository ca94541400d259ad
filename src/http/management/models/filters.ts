import { z } from 'zod';
import { keepsNothing } from '../../../catalog/data-policy.ts';
import type { MetricsOf } from '../../../catalog/endpoint-metrics.ts';
import type { Endpoint, Model } from '../../../catalog/model.ts';
import { abilityOf, type Ability } from '../../../catalog/scores.ts';
import { contextOf, createdOf, inputsOf, outputsOf, parametersOf, priceOf } from './model-shape.ts';

const PAGE_MAX = 1_000;
const OFFSET_MAX = 1_000_000;
const CATEGORIES =
  'programming roleplay marketing marketing/seo technology science translation legal finance health trivia academia'.split(
    ' ',
  );
const SORTS = [
  'most-popular',
  'newest',
  'top-weekly',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'intelligence-high-to-low',
  'coding-high-to-low',
  'agentic-high-to-low',
  'design-arena-elo-high-to-low',
] as const;

const list = z.string().max(2_000).optional();
/** An empty value counts as absent: query strings have no null. */
function amount(schema: z.ZodNumber) {
  return z.preprocess(
    (value) => (value === '' || value === 'null' || value === undefined ? undefined : Number(value)),
    schema.optional(),
  );
}
const usd = amount(z.number().min(0));
const index = amount(z.number().min(0));
const days = amount(z.int().min(0));
const share = amount(z.number().min(0).max(1));

export const pageQuery = {
  offset: amount(z.int().min(0).max(OFFSET_MAX)).describe('Models to skip. Default 0.'),
  limit: amount(z.int().min(1).max(PAGE_MAX)).describe('Default 500; with neither, every model.'),
};

/** @spec catalog-2 */
export const modelsQuery = z.looseObject({
  ...pageQuery,
  client_version: list.describe('Of Codex: the response has `models` beside `data`.'),
  q: list.describe('Words that slug or name hold.'),
  category: z.enum(CATEGORIES).optional().describe('No model is put in categories here: the list is empty.'),
  supported_parameters: list.describe('All of them, comma-separated.'),
  input_modalities: list.describe('All of them, comma-separated.'),
  output_modalities: list.describe('Any of them, comma-separated; `all` for every model. Default text.'),
  context: amount(z.int().min(1)).describe('At least so many tokens.'),
  min_price: usd.describe('USD per million prompt tokens.'),
  max_price: usd,
  min_output_price: usd.describe('USD per million completion tokens.'),
  max_output_price: usd,
  arch: list.describe('The tokenizer.'),
  model_authors: list,
  providers: list.describe('Slugs or names of providers, any of them.'),
  distillable: z.enum(['true', 'false']).optional(),
  zdr: z.enum(['true']).optional(),
  region: z.enum(['eu', 'us']).optional(),
  min_age_days: days,
  max_age_days: days,
  min_intelligence_index: index.describe('0 to 100.'),
  max_intelligence_index: index,
  min_coding_index: index,
  max_coding_index: index,
  min_agentic_index: index,
  max_agentic_index: index,
  min_tool_success_rate: share,
  max_tool_success_rate: share,
  sort: z
    .enum(SORTS)
    .optional()
    .describe('`most-popular` and `top-weekly` go by the requests of the last day here; Elo ratings are not known.'),
  use_rss: z.string().optional().describe('`true`: an RSS feed instead of JSON.'),
  use_rss_chat_links: z.string().optional(),
});

export type ModelsQuery = z.output<typeof modelsQuery>;

/** The facts beside the model itself that filters need. */
export interface FilterFacts {
  readonly nowMs: number;
  readonly metricsOf: MetricsOf;
  /** Whether the provider runs in that region; false for an unknown place. */
  readonly isInRegion: (endpoint: Endpoint, region: 'eu' | 'us') => boolean;
}

type Test = (model: Model) => boolean;

const PICO_PER_USD_A_MILLION = 1e6;
const DAY_S = 86_400;

/** Returns the models that pass every filter, in the requested order. An unknown fact passes no bound. */
export function filterModels(models: readonly Model[], query: ModelsQuery, facts: FilterFacts): readonly Model[] {
  const tests = testsOf(query, facts);
  return sortModels(
    models.filter((model) => tests.every((passes) => passes(model))),
    query.sort,
    facts,
  );
}

function testsOf(query: ModelsQuery, facts: FilterFacts): readonly Test[] {
  const tests: Test[] = [...abilityTests(query), ...priceTests(query), ...endpointTests(query, facts)];
  const outputs = namesOf(query.output_modalities ?? 'text');
  if (!outputs.includes('all')) tests.push((model) => outputs.some((name) => outputsOf(model).includes(name)));
  const inputs = namesOf(query.input_modalities);
  if (inputs.length > 0) tests.push((model) => inputs.every((name) => inputsOf(model).includes(name)));
  const parameters = namesOf(query.supported_parameters);
  if (parameters.length > 0) tests.push((model) => isAllIn(parameters, parametersOf(model)));
  const words = (query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length > 0) tests.push((model) => isAllIn(words, `${model.slug} ${model.name}`.toLowerCase()));
  const authors = namesOf(query.model_authors);
  if (authors.length > 0) tests.push(({ slug }) => authors.includes(slug.slice(0, slug.indexOf('/')).toLowerCase()));
  const arch = namesOf(query.arch);
  if (arch.length > 0) tests.push(({ tokenizer = 'Other' }) => arch.includes(tokenizer.toLowerCase()));
  const { context, category } = query;
  if (context !== undefined) tests.push((model) => (contextOf(model) ?? 0) >= context);
  if (query.min_age_days !== undefined || query.max_age_days !== undefined)
    tests.push((model) => {
      const created = createdOf(model);
      const age = (facts.nowMs / 1_000 - created) / DAY_S;
      return created > 0 && isWithin(age, query.min_age_days, query.max_age_days);
    });
  // Models have no categories, and the success rate of tool calls is known of endpoints only.
  const unknown = [category, query.min_tool_success_rate, query.max_tool_success_rate];
  if (unknown.some((value) => value !== undefined)) tests.push(() => false);
  return tests;
}

function abilityTests(query: ModelsQuery): readonly Test[] {
  const bounds: readonly (readonly [Ability, number | undefined, number | undefined])[] = [
    ['intelligence', query.min_intelligence_index, query.max_intelligence_index],
    ['coding', query.min_coding_index, query.max_coding_index],
    ['agentic', query.min_agentic_index, query.max_agentic_index],
  ];
  return bounds
    .filter(([, min, max]) => min !== undefined || max !== undefined)
    .map(([ability, min, max]) => (model) => {
      const score = abilityOf(model, ability);
      return score !== undefined && isWithin(score * 100, min, max);
    });
}

function priceTests(query: ModelsQuery): readonly Test[] {
  const bounds: readonly (readonly ['prompt' | 'completion', number | undefined, number | undefined])[] = [
    ['prompt', query.min_price, query.max_price],
    ['completion', query.min_output_price, query.max_output_price],
  ];
  return bounds
    .filter(([, min, max]) => min !== undefined || max !== undefined)
    .map(([rate, min, max]) => (model) => {
      const price = priceOf(model);
      return price !== undefined && isWithin(price[rate] / PICO_PER_USD_A_MILLION, min, max);
    });
}

/** A model passes with one endpoint that passes. */
function endpointTests(query: ModelsQuery, { isInRegion }: FilterFacts): readonly Test[] {
  const tests: Test[] = [];
  const providers = namesOf(query.providers);
  const any = (passes: (endpoint: Endpoint) => boolean): void => {
    tests.push((model) => model.endpoints.some(passes));
  };
  if (providers.length > 0)
    any(({ provider, providerName }) =>
      providers.some((name) => name === provider || name === providerName.toLowerCase()),
    );
  if (query.distillable === 'true') any(({ distillable }) => distillable === true);
  if (query.distillable === 'false') any(({ distillable }) => distillable !== true);
  if (query.zdr === 'true') any(keepsNothing);
  const { region } = query;
  if (region !== undefined) any((endpoint) => isInRegion(endpoint, region));
  return tests;
}

function isWithin(value: number, min = -Infinity, max = Infinity): boolean {
  return value >= min && value <= max;
}

function isAllIn(names: readonly string[], whole: string | ReadonlySet<string>): boolean {
  return names.every((name) => (typeof whole === 'string' ? whole.includes(name) : whole.has(name)));
}

function namesOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean);
}

/** Sorts models. Models without the fact come last, in the catalog's order. */
function sortModels(models: readonly Model[], sort: ModelsQuery['sort'], { metricsOf }: FilterFacts): readonly Model[] {
  const key = sort && SORT_KEYS[sort];
  if (key === undefined) return models;
  const keys = new Map(models.map((model) => [model, key(model, metricsOf)]));
  const value = (model: Model): number => keys.get(model) ?? Infinity;
  return models.toSorted((one, other) => {
    const [left, right] = [value(one), value(other)];
    return left === right ? 0 : left - right;
  });
}

type SortKey = (model: Model, metricsOf: MetricsOf) => number | undefined;

/** The share of this gateway's own traffic. */
function popularity({ endpoints }: Model, metricsOf: MetricsOf): number | undefined {
  let requests = 0;
  for (const endpoint of endpoints) requests += metricsOf(endpoint).requestsLast1d;
  return requests === 0 ? undefined : requests;
}

/** Lowest first. A sort that is missing here has no data, and the order stays. */
const SORT_KEYS: Readonly<Partial<Record<(typeof SORTS)[number], SortKey>>> = {
  'most-popular': (model, metricsOf) => descending(popularity(model, metricsOf)),
  'top-weekly': (model, metricsOf) => descending(popularity(model, metricsOf)),
  newest: (model) => descending(createdOf(model) || undefined),
  'pricing-low-to-high': (model) => priceSum(model),
  'pricing-high-to-low': (model) => descending(priceSum(model)),
  'context-high-to-low': (model) => descending(contextOf(model)),
  'throughput-high-to-low': ({ endpoints }, metricsOf) =>
    descending(
      best(
        endpoints.map((endpoint) => metricsOf(endpoint).throughputLast30m?.p50),
        Math.max,
      ),
    ),
  'latency-low-to-high': ({ endpoints }, metricsOf) =>
    best(
      endpoints.map((endpoint) => metricsOf(endpoint).latencyLast30m?.p50),
      Math.min,
    ),
  'intelligence-high-to-low': (model) => descending(abilityOf(model, 'intelligence')),
  'coding-high-to-low': (model) => descending(abilityOf(model, 'coding')),
  'agentic-high-to-low': (model) => descending(abilityOf(model, 'agentic')),
};

function descending(value: number | undefined): number | undefined {
  return value === undefined ? undefined : -value;
}

function priceSum(model: Model): number | undefined {
  const price = priceOf(model);
  return price && price.prompt + price.completion;
}

function best(values: readonly (number | undefined)[], choose: (...values: number[]) => number): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : choose(...known);
}
