import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';
import { numberOf } from './portable.ts';

/** Two records of one thing that do not agree. Nano-USD, or a number of requests. */
export interface Difference {
  readonly what: 'charge' | 'spend' | 'requests' | 'balance';
  /** The generation, the subject with its day, or the account. */
  readonly of: string;
  /** What follows from the generations, or from the entries. */
  readonly expected: number;
  readonly found: number;
}

/** Beyond so many of a kind the rest is not named: something general is wrong. */
const NAMED_MAX = 100;

interface Row {
  readonly name: string;
  readonly expected: number | string | null;
  readonly found: number | string | null;
}

/** All comparisons see one moment. */
export function findDifferences(database: Database, accountId: string): Promise<readonly Difference[]> {
  return database.readSnapshot(async (transaction) => {
    const compare = async (what: Difference['what'], query: RawBuilder<Row>): Promise<readonly Difference[]> => {
      const { rows } = await query.execute(transaction);
      return rows.map(({ name, expected, found }) => ({
        what,
        of: name,
        expected: numberOf(expected),
        found: numberOf(found),
      }));
    };
    return [
      ...(await compare('charge', unlikeCharges(accountId))),
      ...(await compare('spend', unlikeSums(accountId, 'nano_usd'))),
      ...(await compare('requests', unlikeSums(accountId, 'requests'))),
      ...(await compare('balance', unlikeBalance(accountId))),
    ];
  });
}

/** A generation costs what its entry says; one that cost nothing has none. */
function unlikeCharges(accountId: string): RawBuilder<Row> {
  return sql<Row>`
    select name, sum(expected) as expected, sum(found) as found from (
      select id as name, cost_nano_usd as expected, 0 as found from generations where cost_nano_usd > 0
      union all
      select coalesce(generation_id, id), 0, -amount_nano_usd from ledger_entries
      where account_id = ${accountId} and kind = 'usage'
    ) as both_sides
    group by name having sum(expected) <> sum(found) order by name limit ${sql.lit(NAMED_MAX)}`;
}

/** What each subject spent on each day is the sum of its generations; `telemetry/charges.ts` says which count. */
function unlikeSums(accountId: string, column: 'nano_usd' | 'requests'): RawBuilder<Row> {
  const of = (subject: RawBuilder<unknown>, isByok: 0 | 1) => {
    const cost = sql.ref(isByok === 1 ? 'list_cost_nano_usd' : 'cost_nano_usd');
    return sql`
      select ${subject} as subject, created_at_ms - created_at_ms % 86400000 as day_start_ms,
        ${sql.lit(isByok)} as is_byok, ${column === 'requests' ? sql`1` : cost} as expected, 0 as found
      from generations where ${isByok === 1 ? sql`${cost} is not null` : sql`${cost} > 0`} and ${subject} is not null
      union all`;
  };
  const subjects = [
    sql`'key:' || key_hash`,
    sql`'workspace:' || workspace_id`,
    sql`'member:' || member_id`,
    sql`cast(${`account:${accountId}`} as text)`,
  ];
  return sql<Row>`
    select subject || ' ' || day_start_ms || case is_byok when 1 then ' byok' else '' end as name,
      sum(expected) as expected, sum(found) as found
    from (
      ${sql.join(
        subjects.flatMap((subject) => [of(subject, 0), of(subject, 1)]),
        sql` `,
      )}
      select subject, day_start_ms, is_byok, 0, ${sql.ref(column)} from spend
    ) as both_sides
    group by subject, day_start_ms, is_byok having sum(expected) <> sum(found)
    order by subject, day_start_ms, is_byok limit ${sql.lit(NAMED_MAX)}`;
}

/** What was spent, as the balance is read, is the sum of the entries that say so. */
function unlikeBalance(accountId: string): RawBuilder<Row> {
  return sql<Row>`
    select name, expected, found from (
      select cast(${`account:${accountId}`} as text) as name,
        (select coalesce(sum(-amount_nano_usd), 0) from ledger_entries
          where account_id = ${accountId} and kind = 'usage') as expected,
        (select coalesce(sum(nano_usd), 0) from spend
          where subject = ${`account:${accountId}`} and is_byok = 0) as found
    ) as totals where expected <> found`;
}
