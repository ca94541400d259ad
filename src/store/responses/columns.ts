import { integer, nullable, text } from '../../resources/columns.ts';
import { createRowMapper, type TableOf } from '../../resources/row-mapper.ts';

/** A response that later requests may continue. What it says is sealed; the rest is what it is found and counted by. */
const storedResponses = {
  id: text,
  account_id: text,
  workspace_id: text,
  key_hash: text,
  parent_id: nullable(text),
  status: text,
  created_at_ms: integer,
  /** Null: it is kept until it is deleted. */
  expires_at_ms: nullable(integer),
  /** Of its items, as a request could have sent them. */
  items_bytes: integer,
  /** Of the row, with its media. */
  size_bytes: integer,
  /** Compressed JSON as `lib/secret-box.ts` sealed it. */
  sealed: text,
  /** The id of the secret that sealed it. */
  secret_id: text,
};
export type StoredResponsesTable = TableOf<typeof storedResponses>;
export const storedResponseRows = createRowMapper(storedResponses);

/** A large file that stands in items, once for all responses of a workspace. */
const storedMedia = {
  /** A digest of its text, for this workspace alone. */
  id: text,
  account_id: text,
  workspace_id: text,
  used_at_ms: integer,
  sealed: text,
  secret_id: text,
};
export type StoredMediaTable = TableOf<typeof storedMedia>;
export const storedMediaRows = createRowMapper(storedMedia);

/** Which response has an item, by the id of the item. */
export interface StoredItemsTable {
  readonly item_id: string;
  readonly response_id: string;
  readonly written_at_ms: number;
}

/** Which response has a file. */
export interface StoredMediaUsesTable {
  readonly response_id: string;
  readonly media_id: string;
  readonly written_at_ms: number;
}

/** A response that runs in the background, or did. Its request is sealed. */
const backgroundResponses = {
  id: text,
  account_id: text,
  workspace_id: text,
  key_hash: text,
  /** `queued`, `running` or `ended`. */
  state: text,
  created_at_ms: integer,
  claimed_at_ms: nullable(integer),
  ended_at_ms: nullable(integer),
  /** The process that runs it. */
  runner: nullable(text),
  /** Without a renewal its process counts as gone then. */
  lease_until_ms: nullable(integer),
  /** How often it began to run. */
  runs: integer,
  /** Of the run: under it the charge is recorded. */
  generation_id: text,
  cancelled_at_ms: nullable(integer),
  sealed: text,
  secret_id: text,
};
export type BackgroundResponsesTable = TableOf<typeof backgroundResponses>;
export const backgroundResponseRows = createRowMapper(backgroundResponses);

/** Some events of the stream of a background response, as they were sent. */
const responseEvents = {
  id: text,
  response_id: text,
  account_id: text,
  workspace_id: text,
  first_number: integer,
  last_number: integer,
  written_at_ms: integer,
  sealed: text,
  secret_id: text,
};
export type ResponseEventsTable = TableOf<typeof responseEvents>;
export const responseEventRows = createRowMapper(responseEvents);
