import { z } from 'zod';

const PAGE_ROWS = 50;
const PAGE_ROWS_MAX = 100;
const FILTER_CHARS_MAX = 512;

/** A text that rows must have, in the query of a list. */
export const filterSchema = z.string().min(1).max(FILTER_CHARS_MAX).optional();

/** Query parameters of a list. @spec workspace-1 */
export const pageShape = {
  offset: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Rows to skip. Default 0.'),
  limit: z.coerce.number().int().min(1).max(PAGE_ROWS_MAX).optional().describe('Rows on the page. Default 50.'),
};

/** Bounds of the time of rows, in the query of a list. */
export const timeShape = {
  from: z.iso.datetime({ offset: true }).optional().describe('Inclusive.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Exclusive.'),
};

/** The query of a list without filters. */
export const pageQuerySchema = z.strictObject(pageShape);
export interface PageQuery {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

/** The wanted part of a list. */
export interface PageWindow {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The number of rows in the whole list. */
  readonly totalCount: number;
}

export function parseWindow({ offset = 0, limit = PAGE_ROWS }: PageQuery): PageWindow {
  return { offset, limit };
}

/** Makes the schema of a list's response. */
export function pageSchema<Row extends z.ZodType>(row: Row) {
  return z.strictObject({ data: z.array(row), total_count: z.int().describe('Of the whole list.') });
}

export function serializePage<Row, Serialized>(
  { rows, totalCount }: Page<Row>,
  serialize: (row: Row) => Serialized,
): { data: Serialized[]; total_count: number } {
  return { data: rows.map(serialize), total_count: totalCount };
}
