import { z } from 'zod';
import { administeredBy, type Viewer } from '../../../accounts/people/viewer.ts';
import { OPERATORS } from '../../../telemetry/analytics/dimensions.ts';
import { defineRoute, NOTHING } from '../route.ts';

const DIMENSIONS_MAX = 2;
const METRICS_MAX = 50;
const FILTERS_MAX = 20;
const VALUES_MAX = 1_000;
const NAME_CHARS_MAX = 100;
const VALUE_CHARS_MAX = 2_048;
const ROWS_MAX = 10_000;
const TAG_DIMENSIONS_MAX = 2;
const TAG_FILTERS_MAX = 10;

const name = z.string().min(1).max(NAME_CHARS_MAX);
const scalar = z.union([z.string().max(VALUE_CHARS_MAX), z.number()]);

const classifierId = z.uuid().describe('A classifier, whose tags are read: for at most 31 days.');

/** @spec analytics-13 */
const tagGroupsSchema = z
  .strictObject({
    classifier_id: classifierId,
    dimension_names: z
      .array(name)
      .max(TAG_DIMENSIONS_MAX)
      .optional()
      .describe(
        'Each is a column. Without names: `clf_dimension_name` and `clf_dimension_value`, and a generation counts in each of its dimensions.',
      ),
    include_nulls: z.boolean().optional().describe('Whether generations without a tag are kept. Default: false.'),
  })
  .meta({ id: 'AnalyticsTagGroups' });

const tagFiltersSchema = z
  .strictObject({
    classifier_id: classifierId,
    filters: z
      .array(
        z.strictObject({
          field: name.describe('A dimension of the classifier.'),
          operator: z.enum(['eq', 'neq', 'in', 'not_in']),
          value: z.union([scalar, z.array(scalar).min(1).max(VALUES_MAX)]),
        }),
      )
      .min(1)
      .max(TAG_FILTERS_MAX),
  })
  .meta({ id: 'AnalyticsTagFilters' });

/** What a query names; how many rows it may have follows from where they go. @spec analytics-3 */
export const queryShape = {
  metrics: z.array(name).min(1).max(METRICS_MAX),
  dimensions: z.array(name).max(DIMENSIONS_MAX).optional(),
  filters: z
    .array(
      z.strictObject({
        field: name.describe('A dimension, or a metric: then rows whose value does not hold are left out.'),
        operator: z.enum(OPERATORS.map((operator) => operator.name)),
        value: z.union([scalar, z.array(scalar).min(1).max(VALUES_MAX)]),
        include_unset: z
          .boolean()
          .optional()
          .describe('Whether rows without the dimension are kept. Default: by neq and not_in only.'),
      }),
    )
    .max(FILTERS_MAX)
    .optional(),
  granularity: name.optional(),
  timezone: name
    .optional()
    .describe(
      'Where days, weeks and months begin: `Europe/Berlin`, `+02:00`. Whole hours from UTC, the same in all of the range. Default: UTC.',
    ),
  time_range: z
    .strictObject({ start: z.iso.datetime({ offset: true }), end: z.iso.datetime({ offset: true }) })
    .optional()
    .describe('Default: the last 30 days.'),
  order_by: z.strictObject({ field: name, direction: z.enum(['asc', 'desc']) }).optional(),
  group_limit: z.int().min(1).max(ROWS_MAX).optional().describe('Rows of each combination of dimensions.'),
  classifier_dimensions: tagGroupsSchema.optional(),
  classifier_filters: tagFiltersSchema.optional(),
};

const bodySchema = z
  .strictObject({
    ...queryShape,
    limit: z.int().min(1).max(ROWS_MAX).optional().describe('Rows. Default 1000.'),
  })
  .meta({ id: 'AnalyticsQuery' });

const answerSchema = z
  .strictObject({
    data: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
    metadata: z.strictObject({
      query_time_ms: z.number(),
      row_count: z.int(),
      truncated: z.boolean().describe('Rows were left out; sums may be partial.'),
    }),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'AnalyticsAnswer' });

export const queryAnalytics = defineRoute({
  method: 'POST',
  path: '/analytics/query',
  scope: 'management',
  readsRecords: true,
  operationId: 'queryAnalytics',
  tag: 'Analytics',
  summary: 'Sum up generations: by time, model, provider, key, workspace, application and more',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'Rows.', schema: z.strictObject({ data: answerSchema }) } },
  errors: [400, 408, 413],
  onlyReads: true,
  users: 'narrowed',
  async handle({ body, viewer, services }) {
    const { rows, queryTimeMs, truncated, warnings } = await services.analytics.query(narrowed(body, viewer));
    const metadata = { query_time_ms: queryTimeMs, row_count: rows.length, truncated };
    return {
      status: 200,
      body: { data: { data: rows, metadata, ...(warnings.length > 0 && { warnings }) } },
    };
  },
});

type Filters = z.output<typeof bodySchema>['filters'];

/** What of a query a user may see. */
export function narrowed<Query extends { readonly filters?: Filters }>(
  query: Query,
  viewer: Viewer | undefined,
): Query {
  return viewer === undefined ? query : { ...query, filters: [...(query.filters ?? []), filterFor(viewer)] };
}

/** A user sees the workspaces that it administers or, without any, what its own keys did. @spec people-9 */
function filterFor(viewer: Viewer): NonNullable<Filters>[number] {
  const workspaces = administeredBy(viewer);
  if (workspaces.length > 0) return { field: 'workspace', operator: 'in', value: [...workspaces] };
  return { field: 'user', operator: 'eq', value: viewer.userId };
}
