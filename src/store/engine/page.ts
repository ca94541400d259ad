import type { SelectQueryBuilder } from 'kysely';
import { numberOf } from '../portable.ts';
import type { Tables } from '../tables.ts';

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

/**
 * Reads one page of a query's rows, and counts all of them.
 * @param select adds the columns and a total order, so that pages neither repeat nor skip a row
 */
export async function fetchPage<Found extends keyof Tables, Selected, Columns, Row>(
  query: SelectQueryBuilder<Tables, Found, Selected>,
  { offset, limit }: PageWindow,
  select: (query: SelectQueryBuilder<Tables, Found, Selected>) => SelectQueryBuilder<Tables, Found, Columns>,
  toRow: (columns: Columns) => Row,
): Promise<Page<Row>> {
  const [rows, { count }] = await Promise.all([
    select(query).limit(limit).offset(offset).execute(),
    query.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ]);
  return { rows: rows.map(toRow), totalCount: numberOf(count) };
}
