import { z } from 'zod';
import { integer, json, nullable, text, textOf } from '../../resources/columns.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

/** How the deliveries of a destination go. */
export type DeliveryState = 'ok' | 'retrying' | 'failing' | 'suspended';

/** A record that a destination refused for good. */
const refusedRecord = z.object({ recordId: z.string(), atMs: z.number(), status: z.number(), message: z.string() });
export type RefusedRecord = z.output<typeof refusedRecord>;

const deliveryError = z.object({ atMs: z.number(), status: z.number().nullable(), message: z.string() });
export type DeliveryError = z.output<typeof deliveryError>;

/** How far a destination is, and which process sends to it. */
const cursorColumns = {
  destination_id: text,
  /** The last row that was sent or given up, with its transaction; 0 and 0: none. */
  xid: integer,
  seq: integer,
  /** The process that sends; null: none. */
  holder: nullable(text),
  lease_until_ms: integer,
  state: textOf<DeliveryState>(),
  /** Failed calls since the last one that succeeded. */
  failures: integer,
  failing_since_ms: nullable(integer),
  last_success_ms: nullable(integer),
  last_error: nullable(json(deliveryError)),
  sent: integer,
  failed: integer,
  dropped: integer,
  /** The newest last. */
  recent_failures: json(refusedRecord.array().readonly()),
};

export type DestinationCursorsTable = TableOf<typeof cursorColumns>;
export type CursorRow = RowOf<typeof cursorColumns>;
export const cursorRows = createRowMapper(cursorColumns);

/** A record that a destination may want, beside its generation: what its row has no column for. */
export interface ExportRowsTable {
  readonly seq: number;
  /** PostgreSQL: the transaction that stored it. SQLite commits in order: always 0. */
  readonly xid: number;
  readonly record_id: string;
  readonly workspace_id: string;
  readonly ended_ms: number;
  readonly size_bytes: number;
  /** JSON. */
  readonly facts: string;
}
