import { assert } from '../../lib/assert.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** The starts of the current day, week and month, ms since 1970: midnights in UTC. */
export interface SpendWindows {
  readonly dayStartMs: number;
  readonly weekStartMs: number;
  readonly monthStartMs: number;
}

/** Nano-USD. Generations whose price is unknown count nothing. */
export interface Spend {
  readonly total: number;
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

/**
 * What a subject spent with the gateway's own credentials, and what calls with callers' credentials would have cost.
 */
export interface SubjectSpend {
  readonly own: Spend;
  readonly byok: Spend;
}

const NO_SPEND: Spend = { total: 0, day: 0, week: 0, month: 0 };

/** Sums spending from one row a day: one entry for each subject (`key:HASH`, `workspace:ID`, ...). */
export async function sumSpend(
  database: Pick<Database, 'kysely'>,
  subjects: readonly string[],
  windows: SpendWindows,
): Promise<ReadonlyMap<string, SubjectSpend>> {
  const sums = new Map<string, SubjectSpend>(subjects.map((subject) => [subject, { own: NO_SPEND, byok: NO_SPEND }]));
  if (subjects.length === 0) return sums;
  for (const row of await querySums(database, subjects, windows)) {
    const spend: Spend = {
      total: numberOf(row.total),
      day: numberOf(row.day),
      week: numberOf(row.week),
      month: numberOf(row.month),
    };
    const known = sums.get(row.subject);
    assert(known !== undefined, 'a sum belongs to a requested subject');
    sums.set(row.subject, row.is_byok === 1 ? { ...known, byok: spend } : { ...known, own: spend });
  }
  return sums;
}

function querySums(database: Pick<Database, 'kysely'>, subjects: readonly string[], windows: SpendWindows) {
  const { dayStartMs, weekStartMs, monthStartMs } = windows;
  return database.kysely
    .selectFrom('spend')
    .where('subject', 'in', subjects)
    .select((build) => {
      // The sum is a double: an integer sum above 2^53 would be an error, and up to there a double is exact.
      const spent = build.cast<number>('nano_usd', 'double precision');
      const sumSince = (sinceMs: number) =>
        build.fn.sum<number | null>(build.case().when('day_start_ms', '>=', sinceMs).then(spent).end());
      return [
        'subject',
        'is_byok',
        build.fn.sum<number | null>(spent).as('total'),
        sumSince(dayStartMs).as('day'),
        sumSince(weekStartMs).as('week'),
        sumSince(monthStartMs).as('month'),
      ];
    })
    .groupBy(['subject', 'is_byok'])
    .execute();
}
