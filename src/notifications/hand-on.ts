import type { ChannelRow } from '../resources/notification-channels.ts';
import type { NotificationEvent } from '../store/notifications/columns.ts';
import { wants } from './event-types.ts';
import type { NotificationDeps } from './deps.ts';

export const NOTIFY = 'notify';
const EVENTS_AT_ONCE_MAX = 50;
/** Events of one key within this time are one message. */
const MERGE_MS = 600_000;

/** Gives new events to the channels that want them. It may begin again anywhere. @returns whether there is more */
export async function handOn(deps: NotificationDeps): Promise<boolean> {
  const events = await deps.outbox.toHand(EVENTS_AT_ONCE_MAX);
  if (events.length === 0) return false;
  const channels = (await deps.channels.all()).filter(({ enabled }) => enabled);
  for (const event of events) {
    for (const channel of channels) if (wants(channel, event)) await deliverTo(deps, channel, event);
    await deps.outbox.handed(event.id);
  }
  return events.length === EVENTS_AT_ONCE_MAX;
}

async function deliverTo(
  { outbox, jobs, clock }: NotificationDeps,
  channel: ChannelRow,
  event: NotificationEvent,
): Promise<void> {
  const nowMs = Math.floor(clock.nowMs());
  const id = deliveryId(event, channel);
  // A process ended in the middle of this: the job is added under the same id.
  const known = await outbox.findDelivery(id);
  const eventKey = event.mark ?? `${event.type} ${event.severity} ${event.subject}`;
  const recent = known === undefined ? await outbox.recent(channel.id, eventKey, nowMs - MERGE_MS) : [];
  const waiting = recent.find(({ state }) => state === 'queued' || state === 'held');
  const isMerged = waiting !== undefined && (await outbox.join(waiting.id));
  const sentAtMs = recent.find(({ state }) => state === 'sent')?.createdAtMs;
  if (known === undefined)
    await outbox.addDelivery({
      id,
      eventId: event.id,
      channelId: channel.id,
      eventKey,
      state: isMerged ? 'merged' : 'queued',
      attempts: 0,
      repeats: 0,
      status: null,
      error: null,
      createdAtMs: nowMs,
      sentAtMs: null,
    });
  if (isMerged || (known !== undefined && known.state !== 'queued')) return;
  await jobs.add({
    kind: NOTIFY,
    subjectId: channel.id,
    id: `${NOTIFY} ${id}`,
    delayMs: sentAtMs === undefined ? 0 : Math.max(0, sentAtMs + MERGE_MS - nowMs),
    checkpoint: { delivery: id },
  });
}

export function deliveryId({ id }: Pick<NotificationEvent, 'id'>, channel: Pick<ChannelRow, 'id'>): string {
  return `${id} ${channel.id}`;
}
