import { z } from 'zod';
import { ROWS_EXPORTED_MAX, type AnalyticsResponse } from '../../../telemetry/analytics/analytics.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { CSV_TYPE, FILE_FORMATS, sendRows } from '../generations/row-file.ts';
import { narrowed, queryShape } from './query.ts';

const PAGE_ROWS = 500;

/** @spec analytics-14 */
const bodySchema = z
  .strictObject({
    format: z
      .enum(FILE_FORMATS)
      .optional()
      .describe('Default: csv. JSON has each line as `POST /analytics/query` has it.'),
    include_query: z
      .boolean()
      .optional()
      .describe('Whether the first line of the file says what was queried, and whether it is whole. Default: false.'),
    ...queryShape,
    limit: z.int().min(1).max(ROWS_EXPORTED_MAX).optional().describe(`Rows. Default: ${ROWS_EXPORTED_MAX}.`),
  })
  .meta({ id: 'AnalyticsExport' });

export const exportAnalytics = defineRoute({
  method: 'POST',
  path: '/analytics/export',
  scope: 'management',
  readsRecords: true,
  operationId: 'exportAnalytics',
  tag: 'Analytics',
  summary: 'Download the rows of an analytics query as CSV or as lines of JSON',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    200: {
      description:
        'The rows. `X-Service-Row-Count` has their number; `X-Service-Truncated: true` says that rows were left out, or that sums may be partial.',
      schema: z.string(),
      contentType: CSV_TYPE,
    },
  },
  errors: [400, 408, 413, 429],
  onlyReads: true,
  users: 'narrowed',
  async handle({ body, viewer, services }) {
    const { format = 'csv', include_query: hasNote = false, ...query } = body;
    const { release, ...found } = await services.analytics.export(
      narrowed({ ...query, limit: query.limit ?? ROWS_EXPORTED_MAX }, viewer),
    );
    const note = hasNote ? { query, ...summaryOf(found) } : undefined;
    const answer = sendRows({ name: 'analytics', format, pages: pagesOf(found.rows), note });
    // Also of a reader that is gone before the first row.
    answer.body.once('close', release);
    return {
      ...answer,
      headers: {
        ...answer.headers,
        'x-service-row-count': String(found.rows.length),
        'x-service-truncated': String(found.truncated),
      },
    };
  },
});

function summaryOf({ rows, truncated, warnings }: AnalyticsResponse): object {
  return { row_count: rows.length, truncated, ...(warnings.length > 0 && { warnings }) };
}

function* pagesOf(rows: AnalyticsResponse['rows']): Generator<AnalyticsResponse['rows']> {
  for (let at = 0; at < rows.length; at += PAGE_ROWS) yield rows.slice(at, at + PAGE_ROWS);
}
