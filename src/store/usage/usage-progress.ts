import type { Kysely } from 'kysely';
import { numberOf } from '../portable.ts';
import type { Tables, UsageProgressTable } from '../tables.ts';
import { daysToSumUpAgain } from './hours.ts';

/** The times until which the sums are complete, Unix ms; 0: nothing was summed up. */
export interface UsageProgress {
  readonly hourlyMs: number;
  readonly dailyMs: number;
  /** How often {@link sumUpAgain} has set the two back. */
  readonly setBackCount: number;
}

export async function readUsageProgress({ kysely }: { readonly kysely: Kysely<Tables> }): Promise<UsageProgress> {
  const rows = await kysely.selectFrom('usage_progress').selectAll().execute();
  const valueOf = (name: UsageProgressTable['name']): number =>
    numberOf(rows.find((row) => row.name === name)?.done_until_ms);
  return { hourlyMs: valueOf('hourly'), dailyMs: valueOf('daily'), setBackCount: valueOf('set_back_count') };
}

export async function writeUsageProgress(kysely: Kysely<Tables>, progress: UsageProgress): Promise<void> {
  await kysely
    .insertInto('usage_progress')
    .values([
      { name: 'hourly', done_until_ms: progress.hourlyMs },
      { name: 'daily', done_until_ms: progress.dailyMs },
      { name: 'set_back_count', done_until_ms: progress.setBackCount },
    ])
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((set) => ({ done_until_ms: set.ref('excluded.done_until_ms') })),
    )
    .execute();
}

/**
 * Has the hours and days of late records, and all later ones, summed up again: these records are older than existing sums. A
 * process that sums up meanwhile may have read the records without them, and finds by the count that it is late. Must be in
 * one transaction with the records, alone under `usage-progress`.
 * @param sinceMs the start of the oldest of them
 */
export async function sumUpAgain(kysely: Kysely<Tables>, sinceMs: number): Promise<void> {
  const [now, again] = [await readUsageProgress({ kysely }), daysToSumUpAgain(sinceMs)];
  await writeUsageProgress(kysely, {
    hourlyMs: Math.min(now.hourlyMs, again.hourlyMs),
    dailyMs: Math.min(now.dailyMs, again.dailyMs),
    setBackCount: now.setBackCount + 1,
  });
}
