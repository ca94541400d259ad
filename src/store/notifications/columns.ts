import { integer, jsonObject, nullable, text, textOf } from '../../resources/columns.ts';
import type { Severity } from '../../resources/notification-channels.ts';
import { createRowMapper, type RowOf, type TableOf } from '../../resources/row-mapper.ts';

const eventColumns = {
  /** `evt_...`: equal in every delivery and every repeat. */
  id: text,
  type: text,
  severity: textOf<Severity>(),
  /** What it is about: `key:HASH`, `channel:ID`, ... */
  subject: text,
  workspace_id: nullable(text),
  title: text,
  text,
  /** Figures and names for programs. */
  facts: jsonObject,
  /** A path of the dashboard. */
  link: nullable(text),
  /** What happens once has one: the first row with it is the event, whichever process writes it. */
  mark: nullable(text),
  /** The row keeps its mark until then; null: for good. */
  mark_until_ms: nullable(integer),
  /** `new`: it is to be handed to channels. `silent`: only its mark counts. */
  state: textOf<'new' | 'handed' | 'silent'>(),
  created_at_ms: integer,
};

const deliveryColumns = {
  id: text,
  event_id: text,
  channel_id: text,
  /** Type and subject: events of one key within a while are one message. */
  event_key: text,
  /** `held`: until quiet hours end or the hour is over. `merged`: another delivery stands for it. */
  state: textOf<'queued' | 'held' | 'sent' | 'failed' | 'merged' | 'dropped'>(),
  attempts: integer,
  /** Further events of the key that it stands for. */
  repeats: integer,
  status: nullable(integer),
  error: nullable(text),
  created_at_ms: integer,
  sent_at_ms: nullable(integer),
};

export type NotificationEventsTable = TableOf<typeof eventColumns>;
export type NotificationEvent = RowOf<typeof eventColumns>;
export const notificationEventRows = createRowMapper(eventColumns);

export type NotificationDeliveriesTable = TableOf<typeof deliveryColumns>;
export type NotificationDelivery = RowOf<typeof deliveryColumns>;
export type DeliveryState = NotificationDelivery['state'];
export const notificationDeliveryRows = createRowMapper(deliveryColumns);
