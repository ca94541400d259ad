import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';
import type { AppsTable } from '../tables.ts';
import { APP_URL_CHARS } from './usage-sums.ts';

type Reports = Database['reports'];

/**
 * Callers choose the titles of their applications, so their number is limited; further applications are shown by
 * address.
 */
const APPS_MAX = 10_000;
/** The newest records that were not summed up yet. */
const FRESH_RECORDS_MAX = 20_000;
/** SQLite takes 32,766 values in a statement, PostgreSQL 65,535. */
const AT_ONCE = 1_000;

/** Reads the titles of the applications of a time span; of several titles it takes the last one in the alphabet. */
export function titlesBetween(reports: Reports, fromMs: number, toMs: number): Promise<readonly AppsTable[]> {
  return titlesOf(
    reports,
    sql`select app_url, app_title from generations where created_at_ms >= ${fromMs} and created_at_ms < ${toMs}`,
  );
}

/** Stores the titles of applications. The last one of an address counts. */
export async function keepAppTitles(kysely: Database['kysely'], found: readonly AppsTable[]): Promise<void> {
  // Always in the same order: two processes that sum up the same hour must not deadlock.
  const titles = [...new Map(found.map((app) => [app.url, app])).values()].toSorted((one, other) =>
    one.url < other.url ? -1 : 1,
  );
  for (let at = 0; at < titles.length; at += AT_ONCE) {
    const some = titles.slice(at, at + AT_ONCE);
    const urls = some.map(({ url }) => url);
    const known = await readKnown(kysely, urls);
    const { apps } = await kysely
      .selectFrom('apps')
      .select(({ fn }) => fn.countAll().as('apps'))
      .executeTakeFirstOrThrow();
    let room = APPS_MAX - numberOf(apps);
    const rows = some.filter(({ url, title }) => (known.has(url) ? known.get(url) !== title : room-- > 0));
    if (rows.length === 0) continue;
    await kysely
      .insertInto('apps')
      .values(rows)
      .onConflict((conflict) => conflict.column('url').doUpdateSet((set) => ({ title: set.ref('excluded.title') })))
      .execute();
  }
}

/** Reads titles by address. @param sinceMs later records are not in the stored titles yet */
export async function readAppTitles(
  reports: Reports,
  urls: readonly string[],
  sinceMs: number,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  for (let at = 0; at < urls.length; at += AT_ONCE)
    for (const [url, title] of await readKnown(reports, urls.slice(at, at + AT_ONCE))) titles.set(url, title);
  if (urls.every((url) => titles.has(url))) return titles;
  const newest = sql`select app_url, app_title from generations where created_at_ms >= ${sinceMs}
    order by created_at_ms desc limit ${sql.lit(FRESH_RECORDS_MAX)}`;
  for (const { url, title } of await titlesOf(reports, newest)) if (!titles.has(url)) titles.set(url, title);
  return titles;
}

async function readKnown(database: Reports, urls: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.selectFrom('apps').selectAll().where('url', 'in', urls).execute();
  return new Map(rows.map(({ url, title }) => [url, title]));
}

async function titlesOf(reports: Reports, records: RawBuilder<unknown>): Promise<readonly AppsTable[]> {
  const { rows } = await sql<AppsTable>`
    select substr(app_url, 1, ${sql.lit(APP_URL_CHARS)}) as url, max(app_title) as title from (${records}) as records
    where app_url is not null and app_title is not null
    group by 1 limit ${sql.lit(APPS_MAX)}`.execute(reports);
  return rows;
}
