import { appIdOf } from '../../lib/ids.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { TooLateError, type UsageReports } from '../../store/usage/usage-reports.ts';
import type { UsageFilter, UsageGroup, UsageInput } from '../../store/usage/usage-sums.ts';
import type { AnalyticsDimension } from './dimensions.ts';
import { parseQuery, type AnalyticsQuery, type ParsedQuery } from './query.ts';
import { serializeRows, type Row } from './rows.ts';
import { checkTags } from './tags.ts';

export interface AnalyticsResponse {
  readonly rows: readonly Row[];
  readonly queryTimeMs: number;
  /** Rows were left out, or sums are partial. */
  readonly truncated: boolean;
  readonly warnings: readonly string[];
}

export interface AnalyticsExport extends AnalyticsResponse {
  /** The rows have left, or are not read any more. */
  readonly release: () => void;
}

/** Queries over many generations. */
export interface Analytics {
  /** @throws GatewayError 400 for an invalid query, 408 when it takes too long */
  query(query: AnalyticsQuery): Promise<AnalyticsResponse>;
  /** The rows of a query that leave as fast as they are read. @throws GatewayError 429 while too many others do, and as `query` */
  export(query: AnalyticsQuery): Promise<AnalyticsExport>;
  /** Runs a valid query and returns all groups. @throws GatewayError 400 when there are too many, 408 */
  read(input: UsageInput): Promise<readonly UsageGroup[]>;
  nowMs(): number;
}

/** The groups of one query, which are all in memory. */
const GROUPS_MAX = 100_000;
/** An export has a row for each group. */
export const ROWS_EXPORTED_MAX = 100_000;
/** Their rows are in memory until the slowest reader has them. */
const EXPORTS_AT_ONCE_MAX = 4;
const EXPORT_RETRY_MS = 5_000;
const QUERY_MS_MAX = 20_000;
/** Applications whose number a filter can name. */
const APPS_MAX = 10_000;

export function createAnalytics({
  reports,
  clock,
}: {
  readonly reports: UsageReports;
  readonly clock: Clock;
}): Analytics {
  async function read(input: UsageInput) {
    const endMs = clock.monotonicMs() + QUERY_MS_MAX;
    try {
      return await reports.read(input, { groupsMax: GROUPS_MAX, isLate: () => clock.monotonicMs() > endMs });
    } catch (cause) {
      if (!(cause instanceof TooLateError)) throw cause;
      const advice = 'The query takes too long: use a shorter time or fewer dimensions.';
      throw new GatewayError('timeout', advice, { status: 408, cause });
    }
  }

  let exportsUnderWay = 0;

  const analytics: Analytics = {
    async query(query) {
      const startMs = clock.monotonicMs();
      const parsed = parseQuery(query, clock.nowMs());
      const { tags } = parsed;
      if (tags !== undefined)
        checkTags(
          tags,
          await reports.classifierDimensions(tags.input.classifierId),
          query.classifier_dimensions !== undefined,
        );
      const warnings: string[] = [];
      const filters = await Promise.all(
        parsed.filters.map((filter) => resolveFilter(reports, filter.dimension, filter, warnings)),
      );
      const { groups, truncated } = await read({ ...parsed.input, filters });
      const serialized = serializeRows(parsed, groups, await namesFor(reports, parsed, groups));
      return {
        rows: serialized.rows,
        truncated: truncated || serialized.truncated,
        queryTimeMs: Math.round(clock.monotonicMs() - startMs),
        warnings,
      };
    },
    async export(query) {
      if (exportsUnderWay >= EXPORTS_AT_ONCE_MAX) throw tooManyExports();
      exportsUnderWay += 1;
      let isReleased = false;
      const release = (): void => {
        if (!isReleased) exportsUnderWay -= 1;
        isReleased = true;
      };
      try {
        return { ...(await analytics.query(query)), release };
      } catch (error) {
        release();
        throw error;
      }
    },
    async read(input) {
      const { groups, truncated } = await read(input);
      // A partial sum looks like a complete one.
      if (truncated)
        throw new GatewayError('invalid_request', 'The response has too many rows: request one day, key or workspace.');
      return groups;
    },
    nowMs: () => clock.nowMs(),
  };
  return analytics;
}

function tooManyExports(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `${EXPORTS_AT_ONCE_MAX} exports are under way. Try again once one of them is over.`,
    {
      retryAfterMs: EXPORT_RETRY_MS,
    },
  );
}

/** Filters name things by id; one that is not known is a warning, since rows of it may be gone. */
async function resolveFilter(
  reports: UsageReports,
  { column, names }: AnalyticsDimension,
  { values, isNot, path }: ParsedQuery['filters'][number],
  warnings: string[],
): Promise<UsageFilter> {
  if (names === undefined) return { dimension: column, values: values.map(String), isNot };
  const known = await readKnown(reports, names, values.map(String));
  const found = values.map((value) => {
    const id = known.get(String(value));
    if (id === undefined && value !== '') warnings.push(`${path}: nothing is known by the id ${String(value)}`);
    return id ?? String(value);
  });
  return { dimension: column, values: found, isNot };
}

/** Maps the values of a filter to the values in the records. */
async function readKnown(
  reports: UsageReports,
  names: NonNullable<AnalyticsDimension['names']>,
  values: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (names === 'keys') return new Map([...(await reports.keyNames(values)).keys()].map((hash) => [hash, hash]));
  if (names === 'workspaces')
    return new Map(
      [...(await reports.workspaceNames())].flatMap(
        ([id, { slug }]) =>
          [
            [id, id],
            [slug, id],
          ] as const,
      ),
    );
  const urls = await reports.appUrls(APPS_MAX);
  return new Map(
    urls.flatMap(
      (url) =>
        [
          [url, url],
          [String(appIdOf(url)), url],
        ] as const,
    ),
  );
}

/** Reads the names of ids, by column. */
async function namesFor(
  reports: UsageReports,
  { dimensions }: ParsedQuery,
  groups: readonly UsageGroup[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [index, { name, names }] of dimensions.entries()) {
    const ids = [...new Set(groups.map(({ key }) => key[index] ?? ''))];
    if (names === 'keys') found.set(name, await reports.keyNames(ids));
    if (names === 'apps') found.set(name, await reports.appTitles(ids.filter((id) => id !== '')));
    if (names === 'workspaces') {
      const workspaces = await reports.workspaceNames();
      found.set(name, new Map([...workspaces].map(([id, workspace]) => [id, workspace.name])));
    }
  }
  return found;
}
