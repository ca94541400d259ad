import { sql, type RawBuilder } from 'kysely';
import { assert } from '../../lib/assert.ts';
import type { Database } from '../engine/database.ts';
import { numberOf } from '../portable.ts';

/** Two records of one thing that disagree. Nano-USD, or a number of requests. */
export interface Difference {
  readonly what: 'charge' | 'spend' | 'requests' | 'balance';
  /** The generation, the subject with its day, or the account. */
  readonly of: string;
  /** The value that follows from the generations, or from the entries. */
  readonly expected: number;
  readonly found: number;
}

/** Both sides of the books at one moment, and where they disagree. */
export interface Comparison {
  readonly differences: readonly Difference[];
  /** Generations that cost something. */
  readonly generations: number;
  /** Charges in the ledger. */
  readonly entries: number;
  /** Keys, workspaces, members and the account, whose sums by day were compared. */
  readonly subjects: number;
  /** What the generations cost, nano-USD, in decimal digits: a sum may be larger than a double holds exactly. */
  readonly costNanoUsd: string;
  /** What the ledger took for them, likewise. */
  readonly chargedNanoUsd: string;
}

/** Further differences of a kind are not listed: so many have a common cause. */
const NAMED_MAX = 100;

interface Row extends Pick<Difference, 'what'> {
  readonly name: string;
  readonly expected: number | string | null;
  readonly found: number | string | null;
}

/** Runs all comparisons at one moment. */
export function compareLedger(database: Database, accountId: string): Promise<Comparison> {
  return database.readSnapshot(async (transaction) => {
    const compare = async (query: RawBuilder<Row>): Promise<readonly Difference[]> => {
      const { rows } = await query.execute(transaction);
      return rows.map(({ what, name, expected, found }) => ({
        what,
        of: name,
        expected: numberOf(expected),
        found: numberOf(found),
      }));
    };
    const differences = [
      ...(await compare(unlikeCharges(accountId))),
      ...(await compare(unlikeSums(accountId))),
      ...(await compare(unlikeBalance(accountId))),
    ];
    const { rows } = await sides(accountId).execute(transaction);
    const [both] = rows;
    assert(both !== undefined, 'sums are always one row');
    return {
      differences,
      generations: numberOf(both.generations),
      entries: numberOf(both.entries),
      subjects: numberOf(both.subjects),
      costNanoUsd: both.cost ?? '0',
      chargedNanoUsd: both.charged ?? '0',
    };
  });
}

interface Sides {
  readonly generations: number | string;
  readonly entries: number | string;
  readonly subjects: number | string;
  readonly cost: string | null;
  readonly charged: string | null;
}

function sides(accountId: string): RawBuilder<Sides> {
  return sql<Sides>`
    select
      (select count(*) from generations where cost_nano_usd > 0) as generations,
      (select cast(sum(cost_nano_usd) as text) from generations where cost_nano_usd > 0) as cost,
      (select count(*) from ledger_entries where account_id = ${accountId} and kind = 'usage') as entries,
      (select cast(-sum(amount_nano_usd) as text) from ledger_entries
        where account_id = ${accountId} and kind = 'usage') as charged,
      (select count(distinct subject) from spend) as subjects`;
}

/**
 * Compares each generation's cost with its entry; a generation that cost nothing has none. It takes two index look-ups
 * for each charge.
 */
function unlikeCharges(accountId: string): RawBuilder<Row> {
  return sql<Row>`
    select 'charge' as what, generations.id as name, cost_nano_usd as expected,
      coalesce(-amount_nano_usd, 0) as found
    from generations left join ledger_entries on ledger_entries.id = generations.id || ':usage' and kind = 'usage'
      and account_id = ${accountId}
    where cost_nano_usd > 0 and (amount_nano_usd is null or amount_nano_usd <> -cost_nano_usd)
    union all
    select 'charge', coalesce(generation_id, ledger_entries.id), 0, -amount_nano_usd
    from ledger_entries left join generations on generations.id = generation_id and cost_nano_usd > 0
    where account_id = ${accountId} and kind = 'usage' and generations.id is null
    order by 2 limit ${sql.lit(NAMED_MAX)}`;
}

/**
 * Compares each subject's spending on each day with the sum of its generations; `store/journal/charges.ts` says which
 * count. It reads generations once, and their sums by day are small.
 */
function unlikeSums(accountId: string): RawBuilder<Row> {
  const subjects = [
    sql`'key:' || key_hash`,
    sql`'workspace:' || workspace_id`,
    sql`'member:' || member_id`,
    sql`cast(${`account:${accountId}`} as text)`,
  ];
  const of = (subject: RawBuilder<unknown>, isByok: 0 | 1) => {
    const [cost, count] =
      isByok === 1 ? [sql.ref('byok_cost'), sql.ref('byok_count')] : [sql.ref('cost'), sql.ref('count')];
    return sql`
      select ${subject}, day_start_ms, ${sql.lit(isByok)}, ${cost}, 0, ${count}, 0 from days
      where ${count} > 0 and ${subject} is not null`;
  };
  return sql<Row>`
    with days as (
      select key_hash, workspace_id, member_id, created_at_ms - created_at_ms % 86400000 as day_start_ms,
        sum(case when cost_nano_usd > 0 then cost_nano_usd else 0 end) as cost,
        count(case when cost_nano_usd > 0 then 1 end) as count,
        sum(list_cost_nano_usd) as byok_cost, count(list_cost_nano_usd) as byok_count
      from generations group by 1, 2, 3, 4
    ), sides as (
      select subject, day_start_ms, is_byok, 0 as expected, nano_usd as found, 0 as expected_count,
        requests as found_count
      from spend
      union all ${sql.join(
        subjects.flatMap((subject) => [of(subject, 0), of(subject, 1)]),
        sql` union all `,
      )}
    ), sums as (
      select subject || ' ' || day_start_ms || case is_byok when 1 then ' byok' else '' end as name,
        sum(expected) as expected, sum(found) as found, sum(expected_count) as expected_count,
        sum(found_count) as found_count
      from sides group by subject, day_start_ms, is_byok
    )
    select 'spend' as what, name, expected, found from sums where expected <> found
    union all
    select 'requests', name, expected_count, found_count from sums where expected_count <> found_count
    order by 1 desc, 2 limit ${sql.lit(NAMED_MAX)}`;
}

/** Compares the spending that the balance uses with the sum of the usage entries. */
function unlikeBalance(accountId: string): RawBuilder<Row> {
  return sql<Row>`
    select 'balance' as what, name, expected, found from (
      select cast(${`account:${accountId}`} as text) as name,
        (select coalesce(sum(-amount_nano_usd), 0) from ledger_entries
          where account_id = ${accountId} and kind = 'usage') as expected,
        (select coalesce(sum(nano_usd), 0) from spend
          where subject = ${`account:${accountId}`} and is_byok = 0) as found
    ) as totals where expected <> found`;
}
