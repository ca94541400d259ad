import { versionRows } from '../classifiers/columns.ts';
import { readAppTitles } from './app-titles.ts';
import type { Database } from '../engine/database.ts';
import { DAY_MS, HOUR_MS } from './hours.ts';
import { readUsageProgress, type UsageProgress } from './usage-progress.ts';
import { RECORD_MEASURES, USAGE_DIMENSIONS } from './usage-measures.ts';
import { sumUsage, type UsageGroup, type UsageInput, type UsageSource } from './usage-sums.ts';

export interface UsageReport {
  readonly groups: readonly UsageGroup[];
  /** There were more groups than are read; the returned sums may be partial. */
  readonly truncated: boolean;
}

/** Sums of generations over any time: from stored sums and, for what came since, from the records. */
export interface UsageReports {
  /** @param isLate is called between queries. @throws TooLateError */
  read(input: UsageInput, limits: { readonly groupsMax: number; readonly isLate: () => boolean }): Promise<UsageReport>;
  /** Reads names of keys by hash, and of workspaces by id, also of deleted ones, which come last. */
  keyNames(hashes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  workspaceNames(): Promise<ReadonlyMap<string, { readonly name: string; readonly slug: string }>>;
  /** Reads the titles of applications by address. */
  appTitles(urls: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The dimensions that a classifier has or had; `undefined`: there is no such classifier. */
  classifierDimensions(id: string): Promise<readonly string[] | undefined>;
  /** Lists addresses of applications that ever called, at most so many. */
  appUrls(limit: number): Promise<readonly string[]>;
}

/** The time for a report is over. */
export class TooLateError extends Error {
  constructor() {
    super('The report took too long.');
    this.name = 'TooLateError';
  }
}

/** How much time one query covers at most: between two queries others may run, and lateness is noticed. */
const SLICE_MS: Readonly<Record<UsageSource, number>> = {
  generations: HOUR_MS,
  usage_hourly: 7 * DAY_MS,
  usage_daily: 92 * DAY_MS,
};
/** SQLite takes 32,766 values in a statement, PostgreSQL 65,535; labels need few at a time. */
const NAMES_AT_ONCE = 1_000;
/** Versions of a classifier whose dimensions a query can name. */
const VERSIONS_READ = 100;

export function createUsageReports({ database }: { readonly database: Database }): UsageReports {
  const { reports } = database;
  return {
    async read(input, { groupsMax, isLate }) {
      const groups = new Map<string, UsageGroup>();
      for (const part of partsOf(input, await readUsageProgress(database))) {
        const stepMs = SLICE_MS[part.source];
        for (let fromMs = part.fromMs; fromMs < part.toMs; fromMs += stepMs) {
          if (isLate()) throw new TooLateError();
          const slice = { ...input, fromMs, toMs: Math.min(part.toMs, fromMs + stepMs) };
          for (const group of await sumUsage(reports, part.source, slice, groupsMax)) add(groups, group);
          if (groups.size > groupsMax) return { groups: [...groups.values()].slice(0, groupsMax), truncated: true };
        }
      }
      return { groups: groups.size === 0 ? sumsOfNothing(input) : [...groups.values()], truncated: false };
    },
    async keyNames(hashes) {
      const names = new Map<string, string>();
      for (let at = 0; at < hashes.length; at += NAMES_AT_ONCE) {
        const some = hashes.slice(at, at + NAMES_AT_ONCE);
        const rows = await reports.selectFrom('keys').select(['hash', 'name']).where('hash', 'in', some).execute();
        for (const { hash, name } of rows) names.set(hash, name);
      }
      return names;
    },
    async workspaceNames() {
      const rows = await reports
        .selectFrom('workspaces')
        .select(['id', 'name', 'slug'])
        // A deleted workspace frees its slug. Active ones come last, so that the last one of a slug is the one that has
        // it now.
        .orderBy(({ eb }) => eb('deleted_at_ms', 'is', null))
        .execute();
      return new Map(rows.map(({ id, name, slug }) => [id, { name, slug }]));
    },
    async appTitles(urls) {
      return readAppTitles(reports, urls, (await readUsageProgress(database)).hourlyMs);
    },
    async classifierDimensions(id) {
      const rows = await reports
        .selectFrom('classifier_versions')
        .selectAll()
        .where('classifier_id', '=', id)
        .orderBy('version', 'desc')
        .limit(VERSIONS_READ)
        .execute();
      if (rows.length === 0) return undefined;
      return [...new Set(rows.flatMap((row) => versionRows.toRow(row).dimensions.map(({ name }) => name)))];
    },
    async appUrls(limit) {
      const { hourlyMs, dailyMs } = await readUsageProgress(database);
      // An application may have called for the first time a moment ago.
      const rows = await reports
        .selectFrom('usage_daily')
        .select('app_url')
        .union(reports.selectFrom('usage_hourly').select('app_url').where('start_ms', '>=', dailyMs))
        .union(
          reports
            .selectFrom('generations')
            .select((columns) => columns.fn.coalesce('app_url', columns.val('')).as('app_url'))
            .where('created_at_ms', '>=', hourlyMs),
        )
        .limit(limit)
        .execute();
      return rows.map(({ app_url: url }) => url);
    },
  };
}

interface Part {
  readonly source: UsageSource;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Splits a time: whole days and hours come from stored sums, the ragged ends and what is not summed up yet from the
 * records.
 */
function partsOf(input: UsageInput, progress: UsageProgress): readonly Part[] {
  const { fromMs, toMs, bucketMs = DAY_MS, aheadMs = 0, by, filters, measures, tags } = input;
  const isSummed = (name: string): boolean => USAGE_DIMENSIONS.some((known) => known === name);
  const needsRecords =
    bucketMs < HOUR_MS ||
    tags !== undefined ||
    RECORD_MEASURES.some((measure) => measures.includes(measure)) ||
    ![...by, ...filters.map(({ dimension }) => dimension)].every(isSummed);
  const records = (from: number, to: number): Part => ({ source: 'generations', fromMs: from, toMs: to });
  const hoursFromMs = ceilTo(fromMs, HOUR_MS);
  const hoursToMs = Math.min(floorTo(toMs, HOUR_MS), progress.hourlyMs);
  if (needsRecords || hoursFromMs >= hoursToMs) return [records(fromMs, toMs)];
  const hours = (from: number, to: number): Part => ({ source: 'usage_hourly', fromMs: from, toMs: to });
  const daysFromMs = ceilTo(hoursFromMs, DAY_MS);
  const daysToMs = Math.min(floorTo(hoursToMs, DAY_MS), progress.dailyMs);
  const summed: readonly Part[] =
    bucketMs < DAY_MS || aheadMs !== 0 || daysFromMs >= daysToMs
      ? [hours(hoursFromMs, hoursToMs)]
      : [
          hours(hoursFromMs, daysFromMs),
          { source: 'usage_daily', fromMs: daysFromMs, toMs: daysToMs },
          hours(daysToMs, hoursToMs),
        ];
  return [records(fromMs, hoursFromMs), ...summed, records(hoursToMs, toMs)];
}

/** A query without groups always gives one sum, also for a time without records. */
function sumsOfNothing({ by, bucketMs, measures, tags }: UsageInput): readonly UsageGroup[] {
  return by.length > 0 || tags?.names !== undefined || bucketMs !== undefined
    ? []
    : [{ startMs: 0, key: [], sums: measures.map(() => 0) }];
}

function add(groups: Map<string, UsageGroup>, group: UsageGroup): void {
  const name = JSON.stringify([group.startMs, group.key]);
  const before = groups.get(name);
  if (before === undefined) groups.set(name, group);
  else for (const [index, sum] of group.sums.entries()) before.sums[index] = (before.sums[index] ?? 0) + sum;
}

function floorTo(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}

function ceilTo(ms: number, stepMs: number): number {
  return Math.ceil(ms / stepMs) * stepMs;
}
