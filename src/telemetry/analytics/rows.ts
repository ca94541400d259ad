import { appIdOf } from '../../lib/ids.ts';
import type { ReportMeasure } from '../../store/usage/usage-measures.ts';
import type { UsageGroup } from '../../store/usage/usage-sums.ts';
import { serializeBucket } from './dimensions.ts';
import { timeColumn, type ParsedQuery } from './query.ts';

/** One line of an answer: dimensions, the time, and metrics by their names. */
export type Row = Readonly<Record<string, string | number | null>>;

interface Line {
  readonly row: Row;
  readonly combination: string;
}

/** Names by dimension, then by id. */
type Names = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Rows in order, within the limits of the query. */
export function serializeRows(
  incoming: ParsedQuery,
  groups: readonly UsageGroup[],
  names: Names,
): { readonly rows: readonly Row[]; readonly truncated: boolean } {
  const lines = ordered(incoming, serializeLines(incoming, groups, names));
  const combinations = new Set(lines.map(({ combination }) => combination)).size;
  const isGrouped = incoming.dimensions.length > 0 || incoming.tags?.input.names !== undefined;
  const isSeries = incoming.granularity !== undefined && isGrouped && lines.length > incoming.limit;
  // Of several series each gets its part of rows that do not all fit: one of them must not leave no room for the others.
  const each =
    incoming.groupLimit ?? (isSeries ? Math.ceil(incoming.limit / Math.max(1, combinations)) : incoming.limit);
  const given = new Map<string, number>();
  const rows: Row[] = [];
  for (const { row, combination } of lines) {
    const count = given.get(combination) ?? 0;
    if (count >= each) continue;
    if (rows.length === incoming.limit) break;
    given.set(combination, count + 1);
    rows.push(row);
  }
  return { rows, truncated: rows.length < lines.length };
}

function serializeLines(incoming: ParsedQuery, groups: readonly UsageGroup[], names: Names): readonly Line[] {
  const { granularity, dimensions, tags, input } = incoming;
  const index = new Map<ReportMeasure, number>(input.measures.map((measure, at) => [measure, at]));
  return mergeMonths(incoming, groups).flatMap(({ bucket, group }) => {
    const sum = (measure: ReportMeasure): number => group.sums[index.get(measure) ?? -1] ?? 0;
    for (const { metric, isKept } of incoming.having) {
      const value = metric.valueOf(sum);
      if (value === null || !isKept(value)) return [];
    }
    const row: Record<string, string | number | null> = {};
    if (granularity !== undefined) row[timeColumn(granularity)] = bucket;
    for (const [at, { name, names: named }] of dimensions.entries()) {
      const id = group.key[at] ?? '';
      row[name] = id === '' ? null : (names.get(name)?.get(id) ?? id);
      // Names are not unique: beside them stands what they are the name of.
      if (named !== undefined) row[`${name}__id`] = id === '' ? null : named === 'apps' ? appIdOf(id) : id;
    }
    for (const [at, name] of (tags?.columns ?? []).entries()) row[name] = group.key[dimensions.length + at] || null;
    for (const { name, valueOf } of incoming.metrics) row[name] = valueOf(sum);
    return [{ row, combination: group.key.join('\n') }];
  });
}

/** Months differ in length: the query is by day, and days are added up here. */
function mergeMonths(
  { granularity }: ParsedQuery,
  groups: readonly UsageGroup[],
): readonly { readonly bucket: string; readonly group: UsageGroup }[] {
  if (granularity === undefined) return groups.map((group) => ({ bucket: '', group }));
  const merged = new Map<string, { readonly bucket: string; readonly group: UsageGroup }>();
  for (const group of groups) {
    const bucket = serializeBucket(granularity, group.startMs);
    const name = JSON.stringify([bucket, group.key]);
    const before = merged.get(name);
    if (before === undefined) merged.set(name, { bucket, group: { ...group, sums: [...group.sums] } });
    else for (const [at, sum] of group.sums.entries()) before.group.sums[at] = (before.group.sums[at] ?? 0) + sum;
  }
  return [...merged.values()];
}

/** Sorted as the query says, otherwise by time, otherwise the largest first. */
function ordered({ orderBy, granularity, metrics }: ParsedQuery, lines: readonly Line[]): readonly Line[] {
  const byDefault =
    granularity === undefined
      ? { field: metrics[0]?.name ?? '', direction: 'desc' as const }
      : { field: timeColumn(granularity), direction: 'asc' as const };
  const { field, direction } = orderBy ?? byDefault;
  const sign = direction === 'asc' ? 1 : -1;
  return lines.toSorted(
    (one, other) => sign * compare(one.row[field], other.row[field]) || compare(one.combination, other.combination),
  );
}

/** What is unknown comes first. */
function compare(one: string | number | null | undefined, other: string | number | null | undefined): number {
  if (one === other) return 0;
  if (one === null || one === undefined) return -1;
  if (other === null || other === undefined) return 1;
  return one < other ? -1 : 1;
}
