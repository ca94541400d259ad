import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../engine/database.ts';
import { numberOf, storableText } from '../portable.ts';
import { responseEventRows } from './columns.ts';
import type { Sealing, Workspace } from './sealing.ts';

/** Events of a stream that were written together. */
export interface EventsBatch {
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** Frames, as they are sent. */
  readonly frames: string;
}

/** The streams of background responses, from which readers are served, now and later. */
export interface ResponseEvents {
  append(responseId: string, of: Workspace, batch: EventsBatch): Promise<void>;
  /** Those with a higher number, in order; the first of many. */
  readAfter(responseId: string, number: number): Promise<readonly EventsBatch[]>;
}

/** In one query. A batch has at most some hundred events. */
const BATCHES_MAX = 50;
/** Ids grow with the numbers. */
const NUMBER_DIGITS = 12;

export function createResponseEvents({
  database: { kysely },
  sealing,
  clock,
}: {
  readonly database: Database;
  readonly sealing: Sealing;
  readonly clock: Clock;
}): ResponseEvents {
  return {
    async append(responseId, { accountId, workspaceId }, { firstNumber, lastNumber, frames }) {
      const columns = responseEventRows.toColumns({
        id: `${responseId}:${String(firstNumber).padStart(NUMBER_DIGITS, '0')}`,
        responseId,
        accountId,
        workspaceId,
        firstNumber,
        lastNumber,
        writtenAtMs: clock.nowMs(),
        ...(await sealing.seal(frames, { accountId, workspaceId })),
      });
      await kysely
        .insertInto('response_events')
        .values(columns)
        // It was written, though its answer was lost.
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    async readAfter(responseId, number) {
      const rows = await kysely
        .selectFrom('response_events')
        .selectAll()
        .where('response_id', '=', storableText(responseId))
        .where('last_number', '>', number)
        .orderBy('last_number')
        .limit(BATCHES_MAX)
        .execute();
      return Promise.all(
        rows.map(async (row) => ({
          firstNumber: numberOf(row.first_number),
          lastNumber: numberOf(row.last_number),
          frames: await sealing.open(row.sealed, { accountId: row.account_id, workspaceId: row.workspace_id }),
        })),
      );
    },
  };
}
