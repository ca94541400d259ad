import { z } from 'zod';
import { flag, integer, json, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** What a job may be. The last four are final. */
export type VideoStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'expired';

export const OPEN_STATUSES = ['pending', 'in_progress'] as const satisfies readonly VideoStatus[];

/** A clip of a job. Where its provider keeps it is sealed. */
const asset = z.object({
  /** The stored file; absent: the clip is fetched from its provider whenever it is read. */
  fileId: z.string().optional(),
  mediaType: z.string(),
  bytes: z.number().optional(),
});

/** A job that makes a clip. Prompt, addresses and what the provider calls it are sealed. */
const columns = {
  id: text,
  generation_id: text,
  account_id: text,
  workspace_id: text,
  key_hash: text,
  status: textOf<VideoStatus>(),
  /** False: the response to its request says that it failed; no list has it. */
  is_listed: flag,
  /** The provider has accepted it, and its name there is known. */
  is_submitted: flag,
  model: text,
  /** That is called, or about to be. */
  provider: nullable(text),
  /** Per cent. */
  progress: nullable(integer),
  error: nullable(text),
  /** Null: not known yet, or the price is unknown. */
  cost_nano_usd: nullable(integer),
  is_byok: flag,
  assets: json(z.array(asset).readonly()),
  created_at_ms: integer,
  updated_at_ms: integer,
  finished_at_ms: nullable(integer),
  next_poll_ms: integer,
  /** Looks so far. */
  polls: integer,
  /** Since when the provider says that it knows no such job, and how often it has said so. */
  missing_since_ms: nullable(integer),
  missing: integer,
  /** The process that works on it. */
  lease_owner: nullable(text),
  lease_until_ms: integer,
  /** When its end is to be reported to the caller's address; null: there is nothing to report. */
  callback_at_ms: nullable(integer),
  callback_tries: integer,
  /** Until then its clips can be read. */
  assets_until_ms: nullable(integer),
  /** The row is deleted then. */
  expires_at_ms: nullable(integer),
  /** Compressed JSON as `lib/secret-box.ts` sealed it. */
  sealed: text,
  secret_id: text,
};

export type VideoJobsTable = TableOf<typeof columns>;
type Row = RowOf<typeof columns>;
export const videoJobRows = createRowMapper(columns);

export type VideoAsset = z.output<typeof asset>;

/** A job, with its sealed part as text. */
export interface VideoJob extends Omit<Row, 'sealed' | 'secretId'> {
  readonly facts: string;
}

/** Members of a job that are to change. */
export type VideoJobChanges = Partial<Omit<VideoJob, 'id' | 'generationId' | 'accountId' | 'workspaceId' | 'keyHash'>>;
