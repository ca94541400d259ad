import { flag, integer, jsonObject, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** What a job may be. The last three are final. */
export type JobState = 'queued' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled';

/** Work that outlives a request. What it is about is in the tables of its area, under the subject's id. */
const columns = {
  id: text,
  kind: text,
  /** Of all jobs of one kind and one subject, one runs at a time. */
  subject_id: text,
  state: textOf<JobState>(),
  /** Runs since progress was stored last, the one under way included. */
  attempt: integer,
  run_after_ms: integer,
  /** The process that runs it; null: none. */
  lease_owner: nullable(text),
  lease_until_ms: integer,
  /** It runs, and is to stop. */
  is_cancelled: flag,
  /** How far it is, in the words of its kind. It holds nothing secret, and what a caller wrote is sealed. */
  checkpoint: jsonObject,
  error: nullable(text),
  created_at_ms: integer,
  updated_at_ms: integer,
  finished_at_ms: nullable(integer),
  /** The row is deleted then. */
  expires_at_ms: nullable(integer),
};

export type JobsTable = TableOf<typeof columns>;
export type Job = RowOf<typeof columns>;
export const jobRows = createRowMapper(columns);
