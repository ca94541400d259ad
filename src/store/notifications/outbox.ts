import type { Database } from '../engine/database.ts';
import { numberOf, storableJson, storableText } from '../portable.ts';
import {
  notificationDeliveryRows as deliveries,
  notificationEventRows as events,
  type DeliveryState,
  type NotificationDelivery,
  type NotificationEvent,
} from './columns.ts';

export interface EventWindow {
  readonly limit: number;
  /** Only events before this one. */
  readonly before?: Pick<NotificationEvent, 'id' | 'createdAtMs'> | undefined;
  /** Only events with a delivery in this state. */
  readonly state?: DeliveryState | undefined;
}

/** Events and their deliveries, on their way. */
export interface Outbox {
  /** Adds events, each unless its mark is there: the insert decides which process reports. @returns those it added */
  add(events: readonly NotificationEvent[]): Promise<readonly NotificationEvent[]>;
  /** Which of these marks are there. */
  marked(marks: readonly string[]): Promise<ReadonlySet<string>>;
  /** Lets what has these marks happen again. */
  clearMarks(marks: readonly string[]): Promise<number>;
  find(id: string): Promise<NotificationEvent | undefined>;
  /** The newest first, without silent ones. */
  list(window: EventWindow): Promise<readonly NotificationEvent[]>;
  /** Events that are to be handed to channels, the oldest first. */
  toHand(limit: number): Promise<readonly NotificationEvent[]>;
  handed(id: string): Promise<void>;
  /** Adds a delivery, unless the channel has one of the event. */
  addDelivery(delivery: NotificationDelivery): Promise<void>;
  findDelivery(id: string): Promise<NotificationDelivery | undefined>;
  ofEvents(ids: readonly string[]): Promise<readonly NotificationDelivery[]>;
  /** Of a channel and an event key, since a time: what another event of the key would join. */
  recent(channelId: string, eventKey: string, sinceMs: number): Promise<readonly NotificationDelivery[]>;
  change(id: string, changes: Partial<NotificationDelivery>): Promise<void>;
  /** Counts one more event for a delivery that has not been sent. @returns whether it had not */
  join(id: string): Promise<boolean>;
  /** Takes one out of those that are held. @returns whether it was: of several that try, one does */
  claim(id: string, state: 'queued' | 'merged'): Promise<boolean>;
  /**
   * Takes one of the places that a channel has in an hour, which the delivery keeps until it fails for good.
   * @returns false: all are taken
   */
  takePlace(delivery: Pick<NotificationDelivery, 'id' | 'channelId'>, hour: HourOfChannel): Promise<boolean>;
  /** What waits in a channel for the end of quiet hours or of the hour, the oldest first. */
  held(channelId: string, limit: number): Promise<readonly NotificationDelivery[]>;
  /** Deletes events before a time, with their deliveries, but for marks that still count. `true`: there is more. */
  clearAway(beforeMs: number, nowMs: number): Promise<boolean>;
}

interface HourOfChannel {
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly max: number;
}

const CLEAR_AT_ONCE_MAX = 500;
/** Of one channel and key that are looked at. */
const RECENT_MAX = 10;

export function createOutbox(database: Database): Outbox {
  return { ...eventsOf(database), ...handingOf(database), ...deliveriesOf(database), ...limitsOf(database) };
}

function eventsOf({ kysely }: Database): Pick<Outbox, 'add' | 'marked' | 'clearMarks' | 'find' | 'list'> {
  return {
    async add(rows) {
      if (rows.length === 0) return [];
      const added = await kysely
        .insertInto('notification_events')
        .values(rows.map((row) => ({ ...events.toColumns(row), facts: storableJson(row.facts) })))
        .onConflict((conflict) => conflict.column('mark').doNothing())
        .returningAll()
        .execute();
      return added.map(events.toRow);
    },
    async marked(marks) {
      if (marks.length === 0) return new Set();
      const rows = await kysely.selectFrom('notification_events').select('mark').where('mark', 'in', marks).execute();
      return new Set(rows.flatMap(({ mark }) => mark ?? []));
    },
    async clearMarks(marks) {
      if (marks.length === 0) return 0;
      const { numUpdatedRows } = await kysely
        .updateTable('notification_events')
        .set({ mark: null })
        .where('mark', 'in', marks)
        .executeTakeFirst();
      return numberOf(numUpdatedRows);
    },
    async find(id) {
      const row = await kysely
        .selectFrom('notification_events')
        .selectAll()
        .where('id', '=', storableText(id))
        .executeTakeFirst();
      return row && events.toRow(row);
    },
    async list({ limit, before, state }) {
      let query = kysely.selectFrom('notification_events').selectAll().where('state', '<>', 'silent');
      if (before !== undefined)
        query = query.where((is) =>
          is.or([
            is('created_at_ms', '<', before.createdAtMs),
            is.and([is('created_at_ms', '=', before.createdAtMs), is('id', '<', before.id)]),
          ]),
        );
      if (state !== undefined)
        query = query.where((is) =>
          is.exists(
            is
              .selectFrom('notification_deliveries')
              .select('notification_deliveries.id')
              .whereRef('notification_deliveries.event_id', '=', 'notification_events.id')
              .where('notification_deliveries.state', '=', state),
          ),
        );
      const rows = await query.orderBy('created_at_ms', 'desc').orderBy('id', 'desc').limit(limit).execute();
      return rows.map(events.toRow);
    },
  };
}

function handingOf({ kysely }: Database): Pick<Outbox, 'toHand' | 'handed' | 'addDelivery' | 'clearAway'> {
  return {
    async toHand(limit) {
      const rows = await kysely
        .selectFrom('notification_events')
        .selectAll()
        .where('state', '=', 'new')
        .orderBy('created_at_ms')
        .limit(limit)
        .execute();
      return rows.map(events.toRow);
    },
    async handed(id) {
      await kysely.updateTable('notification_events').set({ state: 'handed' }).where('id', '=', id).execute();
    },
    async addDelivery(delivery) {
      await kysely
        .insertInto('notification_deliveries')
        .values(deliveries.toColumns(delivery))
        .onConflict((conflict) => conflict.columns(['event_id', 'channel_id']).doNothing())
        .execute();
    },
    async clearAway(beforeMs, nowMs) {
      const old = await kysely
        .selectFrom('notification_events')
        .select('id')
        .where('created_at_ms', '<', beforeMs)
        .where((is) => is.or([is('mark', 'is', null), is('mark_until_ms', '<', nowMs)]))
        .limit(CLEAR_AT_ONCE_MAX)
        .execute();
      const ids = old.map(({ id }) => id);
      if (ids.length === 0) return false;
      await kysely.deleteFrom('notification_deliveries').where('event_id', 'in', ids).execute();
      await kysely.deleteFrom('notification_events').where('id', 'in', ids).execute();
      return ids.length === CLEAR_AT_ONCE_MAX;
    },
  };
}

function deliveriesOf({ kysely }: Database): Pick<Outbox, 'findDelivery' | 'ofEvents' | 'recent' | 'change' | 'join'> {
  return {
    async findDelivery(id) {
      const row = await kysely
        .selectFrom('notification_deliveries')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst();
      return row && deliveries.toRow(row);
    },
    async ofEvents(ids) {
      if (ids.length === 0) return [];
      const rows = await kysely
        .selectFrom('notification_deliveries')
        .selectAll()
        .where('event_id', 'in', ids)
        .orderBy('created_at_ms')
        .execute();
      return rows.map(deliveries.toRow);
    },
    async recent(channelId, eventKey, sinceMs) {
      const rows = await kysely
        .selectFrom('notification_deliveries')
        .selectAll()
        .where('channel_id', '=', channelId)
        .where('created_at_ms', '>=', sinceMs)
        .where('event_key', '=', storableText(eventKey))
        .orderBy('created_at_ms', 'desc')
        .limit(RECENT_MAX)
        .execute();
      return rows.map(deliveries.toRow);
    },
    async change(id, changes) {
      await kysely
        .updateTable('notification_deliveries')
        .set(deliveries.toChanges(changes))
        .where('id', '=', id)
        .execute();
    },
    async join(id) {
      const { numUpdatedRows } = await kysely
        .updateTable('notification_deliveries')
        .set((is) => ({ repeats: is('repeats', '+', 1) }))
        .where('id', '=', id)
        .where('state', 'in', ['queued', 'held'])
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

function limitsOf({ kysely, runAlone }: Database): Pick<Outbox, 'claim' | 'takePlace' | 'held'> {
  return {
    async claim(id, state) {
      const { numUpdatedRows } = await kysely
        .updateTable('notification_deliveries')
        .set({ state })
        .where('id', '=', id)
        .where('state', '=', 'held')
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    takePlace: ({ id, channelId }, { sinceMs, nowMs, max }) =>
      runAlone('notification channels', async (transaction) => {
        const { taken } = await transaction
          .selectFrom('notification_deliveries')
          .select(({ fn }) => fn.countAll().as('taken'))
          .where('channel_id', '=', channelId)
          .where('sent_at_ms', '>=', sinceMs)
          .where('id', '<>', id)
          .executeTakeFirstOrThrow();
        if (numberOf(taken) >= max) return false;
        await transaction
          .updateTable('notification_deliveries')
          .set({ sent_at_ms: nowMs })
          .where('id', '=', id)
          .execute();
        return true;
      }),
    async held(channelId, limit) {
      const rows = await kysely
        .selectFrom('notification_deliveries')
        .selectAll()
        .where('channel_id', '=', channelId)
        .where('state', '=', 'held')
        .orderBy('created_at_ms')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(deliveries.toRow);
    },
  };
}
