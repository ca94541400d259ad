import { hash } from 'node:crypto';
import type { Settlement } from '../../generations/settlement.ts';
import { storableJson } from '../../portable.ts';
import type { Statement } from './pool.ts';

const ENTRY_COLUMNS =
  'id, at_ms, account_id, kind, amount_nano_usd, generation_id, key_hash, workspace_id, note, author';

/**
 * Builds one statement, and so one commit, for a batch. Entries and spending follow only where the insert of the
 * generation changed a row. Every process writes the sums in the same order, so that two processes never deadlock.
 */
export function settleStatement(batch: readonly Settlement[]): Statement {
  const columns = Object.keys(batch[0]?.generation ?? {});
  const names = columns.map((column) => `"${column}"`).join(', ');
  const unlike = distinct(batch);
  return {
    // A settlement that an older version left in a file has fewer columns, and a connection maps a name to one
    // statement.
    name: `settle ${hash('sha1', names, 'hex')}`,
    text: `
with stored as (
  insert into generations (${names})
  select ${names} from json_populate_recordset(null::generations, $1::json)
  on conflict (id) do nothing
  returning id
), entered as (
  insert into ledger_entries (${ENTRY_COLUMNS})
  select ${ENTRY_COLUMNS} from json_populate_recordset(null::ledger_entries, $2::json) as entry
  where entry.generation_id in (select id from stored)
)
insert into spend (subject, day_start_ms, is_byok, nano_usd, requests)
select subject, day_start_ms, is_byok, sum(nano_usd), count(*)
from json_to_recordset($3::json)
  as increment (generation_id text, subject text, day_start_ms bigint, is_byok bigint, nano_usd bigint)
where generation_id in (select id from stored)
group by subject, day_start_ms, is_byok
order by subject, day_start_ms, is_byok
on conflict (subject, day_start_ms, is_byok)
do update set nano_usd = spend.nano_usd + excluded.nano_usd, requests = spend.requests + excluded.requests`,
    values: [
      storableJson(unlike.map(({ generation }) => generation)),
      storableJson(unlike.flatMap(({ entries }) => entries)),
      storableJson(
        unlike.flatMap(({ spend, generation: { id } }) => spend.map((each) => ({ ...each, generation_id: id }))),
      ),
    ],
  };
}

/** Drops repeated generations: one that came twice in a batch would be stored once and counted twice. */
function distinct(batch: readonly Settlement[]): readonly Settlement[] {
  const byId = new Map<string, Settlement>();
  for (const settlement of batch)
    if (!byId.has(settlement.generation.id)) byId.set(settlement.generation.id, settlement);
  return [...byId.values()];
}
