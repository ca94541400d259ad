import { numberOf, textOf, type AnalyticsRow } from './analytics.ts';

export interface GroupSeries {
  readonly name: string;
  readonly values: readonly number[];
}

export interface Buckets {
  /** Begin of each bucket, in milliseconds. */
  readonly times: readonly number[];
  readonly series: readonly GroupSeries[];
}

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export type Granularity = keyof typeof STEP_MS;
const BUCKETS_MAX = 1_500;

/**
 * Rows of analytics as lines over time: a bucket without a row is a zero, groups beyond the largest are one, "other N".
 * @param metric whose sum is shown
 * @param groupBy a dimension; absent: one line of all rows
 */
export function toBuckets(
  rows: readonly AnalyticsRow[],
  {
    granularity,
    range,
    metric,
    groupBy,
    groupsMax = 7,
  }: {
    readonly granularity: Granularity;
    readonly range: { readonly start: string; readonly end: string };
    readonly metric: string;
    readonly groupBy?: string;
    readonly groupsMax?: number;
  },
): Buckets {
  const times = bucketTimes(range, STEP_MS[granularity]);
  const at = new Map(times.map((time, index) => [time, index]));
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    const index = at.get(new Date(textOf(row, `created_at__${granularity}`)).getTime());
    if (index === undefined) continue;
    const name = groupBy === undefined ? metric : textOf(row, groupBy) || 'none';
    const values = groups.get(name) ?? times.map(() => 0);
    values[index] = (values[index] ?? 0) + numberOf(row, metric);
    groups.set(name, values);
  }
  const sorted = [...groups]
    .map(([name, values]) => ({ name, values }))
    .toSorted((a, b) => sumOf(b.values) - sumOf(a.values));
  return { times, series: foldSmall(sorted, groupsMax) };
}

function bucketTimes(
  { start, end }: { readonly start: string; readonly end: string },
  stepMs: number,
): readonly number[] {
  const first = Math.floor(new Date(start).getTime() / stepMs) * stepMs;
  const count = Math.min(BUCKETS_MAX, Math.max(1, Math.ceil((new Date(end).getTime() - first) / stepMs)));
  return Array.from({ length: count }, (_, index) => first + index * stepMs);
}

function foldSmall(sorted: readonly GroupSeries[], groupsMax: number): readonly GroupSeries[] {
  if (sorted.length <= groupsMax) return sorted;
  const rest = sorted.slice(groupsMax - 1);
  const values = (rest[0]?.values ?? []).map((_, index) =>
    rest.reduce((sum, group) => sum + (group.values[index] ?? 0), 0),
  );
  return [...sorted.slice(0, groupsMax - 1), { name: `other ${rest.length}`, values }];
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
