import { assert } from '../lib/assert.ts';
import type { Database } from './database.ts';
import { numberOf } from './portable.ts';

/** Where the running day, week and month began, ms since 1970. */
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

/** What a key spent on the gateway's own credentials, and on credentials that callers brought. */
export interface KeySpend {
  readonly own: Spend;
  readonly byok: Spend;
}

const NO_SPEND: Spend = { total: 0, day: 0, week: 0, month: 0 };

/** One entry a hash that was asked for, by one query over an index. */
export async function sumSpendByKey(
  database: Database,
  hashes: readonly string[],
  windows: SpendWindows,
): Promise<ReadonlyMap<string, KeySpend>> {
  const sums = new Map<string, KeySpend>(hashes.map((hash) => [hash, { own: NO_SPEND, byok: NO_SPEND }]));
  if (hashes.length === 0) return sums;
  for (const row of await querySums(database, hashes, windows)) {
    const spend: Spend = {
      total: numberOf(row.total),
      day: numberOf(row.day),
      week: numberOf(row.week),
      month: numberOf(row.month),
    };
    const known = sums.get(row.key_hash);
    assert(known !== undefined, 'a sum belongs to a key that was asked for');
    sums.set(row.key_hash, row.is_byok === 1 ? { ...known, byok: spend } : { ...known, own: spend });
  }
  return sums;
}

function querySums(database: Database, hashes: readonly string[], windows: SpendWindows) {
  const { dayStartMs, weekStartMs, monthStartMs } = windows;
  return database.kysely
    .selectFrom('generations')
    .where('key_hash', 'in', hashes)
    .select((build) => {
      // As a double: an integer sum above 2^53 would be an error, and up to there a double is exact.
      const cost = build.cast<number>('cost_nano_usd', 'double precision');
      const sumSince = (sinceMs: number) =>
        build.fn.sum<number | null>(build.case().when('created_at_ms', '>=', sinceMs).then(cost).end());
      return [
        'key_hash',
        'is_byok',
        build.fn.sum<number | null>(cost).as('total'),
        sumSince(dayStartMs).as('day'),
        sumSince(weekStartMs).as('week'),
        sumSince(monthStartMs).as('month'),
      ];
    })
    .groupBy(['key_hash', 'is_byok'])
    .execute();
}
