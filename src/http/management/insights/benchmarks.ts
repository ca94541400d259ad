import { z } from 'zod';
import type { Model, Score } from '../../../catalog/model.ts';
import { bestScores } from '../../../catalog/scores.ts';
import { assert } from '../../../lib/assert.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { serializePricing } from '../models/pricing.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { intervalSchema } from './evaluation-shape.ts';

/** Public sources, for which this gateway has no data, and its own. @spec router-37 */
const SOURCES = ['artificial-analysis', 'design-arena', 'service', 'imported', 'configured', 'local'] as const;
const OWN_SOURCES = ['imported', 'configured', 'local'] as const;
const TASK_TYPES = ['coding', 'intelligence', 'agentic', 'search'] as const;
type TaskType = (typeof TASK_TYPES)[number];
const RESULTS_MAX = 10_000;

/** The test names of each task type. */
const TESTS: Readonly<Record<TaskType, RegExp>> = {
  coding: /(?:^|\/)(?:agentic-)?coding$|^aider-/,
  intelligence:
    /(?:^|\/)(?:global-average|intelligence|reasoning|mathematics|data-analysis|language|instruction-following)$/,
  agentic: /(?:^|\/)(?:agentic-coding|agentic)$|^tau2-bench\//,
  search: /^search_/,
};

const itemSchema = z.strictObject({
  source: z
    .enum(OWN_SOURCES)
    .describe('`imported`: from a table; `configured`: the operator says so; `local`: of a run of this gateway.'),
  model_permaslug: z.string(),
  display_name: z.string(),
  benchmark_type: z
    .string()
    .describe('With its release: scores of two releases are on two scales. Of a run of this gateway: its dataset.'),
  metric: z.string().describe('What `scores.abilities` of the configuration may name.'),
  accuracy: z.number().min(0).max(1),
  accuracy_stddev: z.number().nullable().describe('Of the score itself, by its interval.'),
  accuracy_interval: intervalSchema,
  avg_cost_per_task: z.number().nullable(),
  total_tasks: z.int().nullable(),
  last_run_timestamp: z.string().nullable().describe('The day of the table.'),
  variant: z.string().nullable().describe('The effort or form that scored best.'),
  citation: z.string().nullable().describe('Which table.'),
  pricing: z.strictObject({ prompt: z.string(), completion: z.string() }).nullable(),
});

/** @spec router-37; `@openrouter/sdk` 1.3.19, `UnifiedBenchmarksResponse` */
const benchmarksSchema = z
  .strictObject({
    data: z.array(itemSchema),
    meta: z.strictObject({
      as_of: z.string().describe('The day of the newest score; without one, today.'),
      version: z.literal('v1'),
      source: z.string().nullable(),
      source_url: z.null(),
      citation: z.string().nullable(),
      model_count: z.int(),
      task_type: z.string().nullable(),
    }),
  })
  .meta({ id: 'BenchmarksResponse' });

type Item = z.output<typeof itemSchema>;

const query = z.strictObject({
  source: z.enum(SOURCES).optional(),
  task_type: z.enum(TASK_TYPES).optional(),
  benchmark_type: z.string().max(200).optional(),
  include_run_config: z.enum(['true', 'false']).optional(),
  search_engine: z.string().max(100).optional(),
  search_surface: z.enum(['server-tool', 'plugin']).optional(),
  arena: z.enum(['models', 'builders', 'agents']).optional(),
  category: z.string().max(100).optional(),
  max_results: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, 'must be a whole number from 1')
    .optional(),
});

export const getBenchmarks = defineRoute({
  method: 'GET',
  path: '/benchmarks',
  scope: 'any',
  role: 'member',
  operationId: 'getBenchmarks',
  tag: 'Benchmarks',
  summary: 'What tests say of the models that are served here: the scores that routers choose by',
  params: NOTHING,
  query,
  body: NO_BODY,
  responses: { 200: { description: 'One item a model and a test, the best first.', schema: benchmarksSchema } },
  errors: [400, 429],
  async handle({ principal, query: requested, services: { insights, listing } }) {
    assert(principal !== undefined, 'only a key gets here');
    await insights.take(principal);
    const items = listing.catalog
      .list()
      .flatMap(itemsOf)
      .filter((item) => isWanted(item, requested))
      .toSorted(
        (left, right) => left.benchmark_type.localeCompare(right.benchmark_type) || right.accuracy - left.accuracy,
      )
      .slice(0, Math.min(Number(requested.max_results ?? RESULTS_MAX), RESULTS_MAX));
    const days = items.flatMap(({ last_run_timestamp: day }) => day ?? []).toSorted();
    const citations = [...new Set(items.flatMap(({ citation }) => citation ?? []))];
    return {
      status: 200,
      body: {
        data: items,
        meta: {
          as_of: days.at(-1) ?? new Date(insights.nowMs()).toISOString().slice(0, 10),
          version: 'v1',
          source: requested.source ?? null,
          source_url: null,
          citation: citations.length === 0 ? null : citations.join(', '),
          model_count: new Set(items.map((item) => item.model_permaslug)).size,
          task_type: requested.task_type ?? null,
        },
      } satisfies z.output<typeof benchmarksSchema>,
    };
  },
});

function itemsOf(model: Model): readonly Item[] {
  return bestScores(model).map((score) => serializeItem(model, score));
}

function serializeItem({ slug, canonicalSlug, name, endpoints }: Model, score: Score): Item {
  const price = endpoints.find((endpoint) => endpoint.price !== undefined)?.price;
  const pricing = price && serializePricing(price);
  return {
    source: sourceOf(score),
    model_permaslug: canonicalSlug ?? slug,
    display_name: name,
    benchmark_type: benchmarkOf(score),
    metric: score.metric,
    accuracy: score.score,
    ...measurementOf(score),
    last_run_timestamp: score.date ?? null,
    variant: score.variant ?? null,
    citation: score.source ?? null,
    pricing: pricing === undefined ? null : { prompt: pricing.prompt, completion: pricing.completion },
  };
}

function sourceOf({ own, source }: Score): Item['source'] {
  return own?.kind ?? (source === undefined ? 'configured' : 'imported');
}

/** `local/my-questions@1a2b3c4d` is of the dataset `my-questions`. */
function benchmarkOf({ own, metric }: Score): string {
  return own?.kind === 'local' ? metric.replace(/^local\/|@[^@]*$/g, '') : metric;
}

/** Of half the width of a 95 % interval. */
const DEVIATIONS = 1.959964;

function measurementOf({
  own,
}: Score): Pick<Item, 'accuracy_stddev' | 'accuracy_interval' | 'avg_cost_per_task' | 'total_tasks'> {
  const { low, high, items = null, costNanoUsd } = own ?? {};
  const hasInterval = low !== undefined && high !== undefined;
  return {
    accuracy_stddev: hasInterval ? (high - low) / (2 * DEVIATIONS) : null,
    accuracy_interval: hasInterval ? { low, high } : null,
    avg_cost_per_task: costNanoUsd === undefined ? null : usdFromNano(costNanoUsd),
    total_tasks: items,
  };
}

/** Returns whether an item matches. No item has an arena or a search: such tests do not run here. */
function isWanted(item: Item, requested: z.output<typeof query>): boolean {
  const { source, task_type: task, benchmark_type: type } = requested;
  const isOther = [requested.arena, requested.category, requested.search_engine, requested.search_surface].some(
    (one) => one !== undefined,
  );
  if (isOther || (source !== undefined && item.source !== source)) return false;
  if (type !== undefined && item.benchmark_type !== type) return false;
  return task === undefined || TESTS[task].test(item.benchmark_type);
}
