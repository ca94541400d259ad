import { hash } from 'node:crypto';
import type { JobEnd, JournalBatch } from '../../../journal/batch.ts';
import { columnList } from '../../journal/decode-batch.ts';
import type { SettledGeneration } from '../../journal/record.ts';
import type { GenerationFeedbackTable } from '../../tables.ts';
import type { Statement } from './pool.ts';

const ENTRY_COLUMNS =
  'id, at_ms, account_id, kind, amount_nano_usd, generation_id, key_hash, workspace_id, note, author';
const EXPORT_COLUMNS = 'record_id, workspace_id, ended_ms, size_bytes, facts';
const FEEDBACK_COLUMNS = 'id, generation_id, at_ms, author_key_hash, category, comment';

/** What one statement stores. */
export interface BatchRows {
  readonly columns: readonly string[];
  /** Of different ids. */
  readonly generations: readonly SettledGeneration[];
  readonly feedback: readonly GenerationFeedbackTable[];
  /** Absent: none is stored. */
  readonly checkpoint?: (JournalBatch['checkpoint'] & { readonly end: number }) | undefined;
  /** Absent: the rows are stored in any case. */
  readonly jobEnd?: JobEnd | undefined;
}

/**
 * Builds one statement, and so one commit, for a batch. Entries and spending follow only where the insert of the
 * generation changed a row. Every process writes the sums in the same order, so that two processes never deadlock.
 */
export function batchStatement({ columns, generations, feedback, checkpoint, jobEnd }: BatchRows): Statement {
  const names = columnList(columns);
  const changes = jobEnd === undefined ? '' : columnList(Object.keys(jobEnd.columns));
  return {
    // A connection maps a name to one statement, and a journal of an older version has fewer columns.
    name: `batch ${hash('sha1', `${names} ${changes}`, 'hex')}`,
    text: `
with ${jobEnd === undefined ? '' : `${endedBy(changes)}, `}stored as (
  insert into generations (${names})
  select ${names} from json_populate_recordset(null::generations, $1::json)
  ${jobEnd === undefined ? '' : 'where exists (select 1 from ended)'}
  on conflict (id) do nothing
  returning id
), entered as (
  insert into ledger_entries (${ENTRY_COLUMNS})
  select ${ENTRY_COLUMNS} from json_populate_recordset(null::ledger_entries, $2::json) as entry
  where entry.generation_id in (select id from stored)
), commented as (
  insert into generation_feedback (${FEEDBACK_COLUMNS})
  select ${FEEDBACK_COLUMNS} from json_populate_recordset(null::generation_feedback, $4::json)
  on conflict (id) do nothing
), exported as (
  insert into export_rows (${EXPORT_COLUMNS})
  select ${EXPORT_COLUMNS} from json_populate_recordset(null::export_rows, $6::json) as export
  where export.record_id in (select id from stored)
), marked as (
  insert into journal_checkpoints (stream, position)
  select stream, position from json_populate_recordset(null::journal_checkpoints, $5::json)
  on conflict (stream) do update set position = excluded.position
), summed as (
insert into spend (subject, day_start_ms, is_byok, nano_usd, requests)
select subject, day_start_ms, is_byok, sum(nano_usd), count(*)
from json_to_recordset($3::json)
  as increment (generation_id text, subject text, day_start_ms bigint, is_byok bigint, nano_usd bigint)
where generation_id in (select id from stored)
group by subject, day_start_ms, is_byok
order by subject, day_start_ms, is_byok
on conflict (subject, day_start_ms, is_byok)
do update set nano_usd = spend.nano_usd + excluded.nano_usd, requests = spend.requests + excluded.requests
)
select ${jobEnd === undefined ? '1' : '(select count(*) from ended)'} as ended`,
    values: [
      JSON.stringify(generations.map(({ values }) => namedBy(columns, values))),
      JSON.stringify(generations.flatMap(({ entries }) => entries)),
      JSON.stringify(generations.flatMap(({ spend, id }) => spend.map((each) => ({ ...each, generation_id: id })))),
      JSON.stringify(feedback),
      JSON.stringify(
        checkpoint === undefined ? [] : [{ stream: checkpoint.stream, position: checkpoint.base + checkpoint.end }],
      ),
      JSON.stringify(generations.flatMap(({ exported }) => exported ?? [])),
      ...(jobEnd === undefined ? [] : [JSON.stringify(jobEnd.columns), jobEnd.id]),
    ],
  };
}

/** Nothing else of the batch is stored for a job that has ended before. */
function endedBy(changes: string): string {
  return `ended as (
  update video_jobs set (${changes}) = (select ${changes} from json_populate_record(null::video_jobs, $7::json))
  where id = $8 and status in ('pending', 'in_progress')
  returning id
)`;
}

function namedBy(columns: readonly string[], values: readonly unknown[]): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {};
  for (let place = 0; place < columns.length; place++) row[columns[place] ?? ''] = values[place];
  return row;
}
