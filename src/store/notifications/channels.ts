import { channelResource, type ChannelRow } from '../../resources/notification-channels.ts';
import type { Database } from '../engine/database.ts';
import { fetchPage, type Page, type PageWindow } from '../engine/page.ts';

const { toColumns, toRow, toChanges } = channelResource.rows;

/** How deliveries of a channel go. */
export type ChannelProgress = Partial<
  Pick<ChannelRow, 'state' | 'failures' | 'failedEvents' | 'failingSinceMs' | 'lastError' | 'lastSentAtMs' | 'enabled'>
>;

interface ChannelFailure {
  readonly error: string;
  /** Whether it was the last attempt for its event. */
  readonly isLast: boolean;
  readonly nowMs: number;
}

/** Where operators are notified, with addresses sealed. */
export interface ChannelStore {
  find(id: string): Promise<ChannelRow | undefined>;
  /** The oldest first. */
  list(window: PageWindow): Promise<Page<ChannelRow>>;
  all(): Promise<readonly ChannelRow[]>;
  /** @param admit sees all channels while no other is made; what it throws keeps the channel from being made */
  insert(row: ChannelRow, admit: (all: readonly ChannelRow[]) => void): Promise<void>;
  /**
   * @param admit as for `insert`
   * @returns whether the row was as it was when it was read
   */
  update(
    row: ChannelRow,
    before: Pick<ChannelRow, 'updatedAtMs'>,
    admit: (all: readonly ChannelRow[]) => void,
  ): Promise<boolean>;
  /** Stores how deliveries go, which leaves the version of the row as it is. */
  progress(id: string, changes: ChannelProgress): Promise<void>;
  /** Counts a failed attempt, whatever else is counted meanwhile. @returns the channel after it; `undefined`: there is none */
  countFailure(id: string, failure: ChannelFailure): Promise<ChannelRow | undefined>;
  /** @returns whether its last test is long enough ago */
  takeTest(id: string, nowMs: number, everyMs: number): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}

export function createChannelStore({ kysely, runAlone }: Database): ChannelStore {
  return {
    async find(id) {
      const row = await kysely.selectFrom('notification_channels').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toRow(row);
    },
    list: (window) =>
      fetchPage(
        kysely.selectFrom('notification_channels'),
        window,
        (each) => each.selectAll().orderBy('created_at_ms').orderBy('id'),
        toRow,
      ),
    async all() {
      const rows = await kysely.selectFrom('notification_channels').selectAll().orderBy('id').execute();
      return rows.map(toRow);
    },
    insert: (row, admit) =>
      runAlone('notification channels', async (transaction) => {
        admit((await transaction.selectFrom('notification_channels').selectAll().execute()).map(toRow));
        await transaction.insertInto('notification_channels').values(toColumns(row)).execute();
      }),
    update: (row, before, admit) =>
      runAlone('notification channels', async (transaction) => {
        admit((await transaction.selectFrom('notification_channels').selectAll().execute()).map(toRow));
        const { numUpdatedRows } = await transaction
          .updateTable('notification_channels')
          .set(toColumns(row))
          .where('id', '=', row.id)
          .where('updated_at_ms', '=', before.updatedAtMs)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    async progress(id, changes) {
      await kysely.updateTable('notification_channels').set(toChanges(changes)).where('id', '=', id).execute();
    },
    async countFailure(id, { error, isLast, nowMs }) {
      const columns = await kysely
        .updateTable('notification_channels')
        .set((is) => ({
          failures: is('failures', '+', 1),
          failed_events: is('failed_events', '+', isLast ? 1 : 0),
          failing_since_ms: is.fn.coalesce('failing_since_ms', is.val(nowMs)),
          last_error: error,
        }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      return columns && toRow(columns);
    },
    async takeTest(id, nowMs, everyMs) {
      const { numUpdatedRows } = await kysely
        .updateTable('notification_channels')
        .set({ tested_at_ms: nowMs })
        .where('id', '=', id)
        .where((is) => is.or([is('tested_at_ms', '<=', nowMs - everyMs), is('tested_at_ms', '>', nowMs)]))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async remove(id) {
      const { numDeletedRows } = await kysely
        .deleteFrom('notification_channels')
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
