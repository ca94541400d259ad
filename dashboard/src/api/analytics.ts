import type { UseQueryResult } from '@tanstack/react-query';
import { client, type Schemas } from './client.ts';
import type { ApiError } from './errors.ts';
import { useRead, type ReadOptions } from './read.ts';
import { API_ROOT, openStream } from './transport.ts';

/** A row: dimensions are texts, metrics numbers, both null where there is none. */
export type AnalyticsRow = Readonly<Record<string, string | number | null>>;

export interface AnalyticsResult {
  readonly rows: readonly AnalyticsRow[];
  readonly isTruncated: boolean;
  readonly warnings: readonly string[];
}

export interface AnalyticsFilter {
  readonly field: string;
  readonly operator: 'eq' | 'neq' | 'in' | 'not_in' | 'gt' | 'gte' | 'lt' | 'lte';
  readonly value: string | number | (string | number)[];
}

export interface AnalyticsQuestion {
  readonly metrics: readonly string[];
  readonly dimensions?: readonly string[];
  readonly granularity?: string;
  readonly filters?: readonly AnalyticsFilter[];
  readonly range: { readonly start: string; readonly end: string };
  readonly orderBy?: string;
  readonly limit?: number;
}

/** One query of analytics; its rows as they come. */
export function useAnalytics(
  question: AnalyticsQuestion,
  options?: ReadOptions,
): UseQueryResult<AnalyticsResult, ApiError> {
  return useRead(
    ['analytics', question],
    async (signal) => {
      const { data } = await client.POST('/analytics/query', { signal, body: bodyOf(question) });
      const result = data?.data;
      return {
        data: {
          rows: result?.data ?? [],
          isTruncated: result?.metadata.truncated ?? false,
          warnings: result?.warnings ?? [],
        },
      };
    },
    options,
  );
}

function bodyOf(question: AnalyticsQuestion): Schemas['AnalyticsQuery'] {
  const { metrics, dimensions = [], granularity, filters = [], range, orderBy, limit } = question;
  return {
    metrics: [...metrics],
    dimensions: [...dimensions],
    filters: [...filters],
    time_range: range,
    ...(granularity !== undefined && { granularity }),
    ...(orderBy !== undefined && { order_by: { field: orderBy, direction: 'desc' as const } }),
    ...(limit !== undefined && { limit }),
  };
}

/** The rows of a query as a file, with the query in its first line: at most 100,000 of them. */
export async function exportAnalytics(question: AnalyticsQuestion, format: 'csv' | 'jsonl'): Promise<Blob> {
  const body: Schemas['AnalyticsExport'] = { ...bodyOf(question), format, include_query: true };
  const response = await openStream(`${API_ROOT}/analytics/export`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.blob();
}

/** A metric of a row, where absent zero. */
export function numberOf(row: AnalyticsRow | undefined, name: string): number {
  const value = row?.[name];
  return typeof value === 'number' ? value : Number(value ?? 0) || 0;
}

export function textOf(row: AnalyticsRow, name: string): string {
  const value = row[name];
  return value === null || value === undefined ? '' : String(value);
}
