import { createHousekeeping } from '../lib/async/housekeeping.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { DeliveryState, NotificationDelivery, NotificationEvent } from '../store/notifications/columns.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { createChannels, type Channels } from './channels.ts';
import { notifyKind } from './deliver.ts';
import type { NotificationDeps } from './deps.ts';
import { handOn, NOTIFY } from './hand-on.ts';
import { MoneyWatch, type MoneyWatchDeps } from './money-watch.ts';
import { raise, type NewEvent } from './raise.ts';

export interface EventWithDeliveries {
  readonly event: NotificationEvent;
  readonly deliveries: readonly NotificationDelivery[];
}

export interface EventsWindow {
  readonly limit: number;
  /** Only events before this one. */
  readonly cursor?: string | undefined;
  readonly state?: DeliveryState | undefined;
}

/** What operators are notified of, and how it reaches them. */
export interface Notifications {
  readonly channels: Channels;
  /** Whether there is a channel: without one nothing is noted, stored or sent. */
  readonly isOn: boolean;
  /** Something happened. Costs nothing without a channel. Never rejects. */
  raise(event: NewEvent): Promise<void>;
  /** What these marks stand for is over: it is reported anew. @returns how many of them were there; of all processes one clears each */
  clear(marks: readonly string[]): Promise<number>;
  /** A key was charged. */
  charged(keyHash: string): void;
  /** The newest first. @throws GatewayError 400 for a cursor of no event */
  events(window: EventsWindow): Promise<{
    readonly events: readonly EventWithDeliveries[];
    readonly nextCursor: string | null;
  }>;
  /** Delivers an event once more, under the same id. @throws GatewayError 404, 409 while it is delivered */
  resend(eventId: string): Promise<EventWithDeliveries>;
  /** Reads the channels again. */
  refresh(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

export interface NotificationsDeps extends NotificationDeps, Omit<MoneyWatchDeps, keyof NotificationDeps> {
  readonly jobs: Pick<Jobs, 'add' | 'register'>;
  /** Whether this process hands events on and clears away; one process of a gateway does. */
  readonly keepsStore: boolean;
  /** Nothing is sent any more. */
  readonly closeSenders: () => Promise<void>;
  readonly onFailed: (error: unknown) => void;
  /** For tests. */
  readonly tickMs?: number | undefined;
}

const TICK_MS = 1_000;
/** A channel that was made in another process is known after this, where it was not announced. */
const REFRESH_EVERY_MS = 10_000;
const LOOK_AT_ALL_EVERY_MS = 600_000;
const CLEAR_EVERY_MS = 3_600_000;
const PAUSE_MS = 100;
const KEEP_MS = 2_592_000_000;

export function createNotifications(deps: NotificationsDeps): Notifications {
  const { channels: store, outbox, jobs, clock, keepsStore, onFailed } = deps;
  const tickMs = deps.tickMs ?? TICK_MS;
  const watch = new MoneyWatch(deps);
  jobs.register(notifyKind(deps));
  const keep = (work: () => Promise<boolean>, everyMs: number, pauseMs: number) =>
    createHousekeeping({ work, everyMs, pauseMs, onFailed });
  const whenOn = (work: () => Promise<boolean>) => async () => notifications.isOn && work();
  const refresh = async (): Promise<void> => {
    const wasOn = notifications.isOn;
    notifications.isOn = (await store.all()).some(({ enabled }) => enabled);
    if (notifications.isOn && !wasOn && keepsStore) await watch.noteAll();
  };
  const lookAtAll = async (): Promise<boolean> => {
    await watch.noteAll();
    return false;
  };
  const rounds = [
    keep(
      whenOn(() => watch.look()),
      tickMs,
      PAUSE_MS,
    ),
    keep(async () => refresh().then(() => false), REFRESH_EVERY_MS, REFRESH_EVERY_MS),
    ...(keepsStore
      ? [
          keep(
            whenOn(() => handOn(deps)),
            tickMs,
            PAUSE_MS,
          ),
          keep(whenOn(lookAtAll), LOOK_AT_ALL_EVERY_MS, LOOK_AT_ALL_EVERY_MS),
          keep(() => outbox.clearAway(clock.nowMs() - KEEP_MS, clock.nowMs()), CLEAR_EVERY_MS, PAUSE_MS),
        ]
      : []),
  ];
  const notifications = {
    channels: createChannels(deps),
    // A member that is read in the path of every generation.
    isOn: false,
    async raise(event: NewEvent) {
      if (notifications.isOn) await raise(deps, [event]).catch(onFailed);
    },
    async clear(marks: readonly string[]) {
      return notifications.isOn ? outbox.clearMarks([...(await outbox.marked(marks))]) : 0;
    },
    charged: (keyHash: string) => watch.note(keyHash),
    events: (window: EventsWindow) => listEvents(deps, window),
    resend: (eventId: string) => resend(deps, eventId),
    refresh: () => refresh().catch(onFailed),
    start() {
      refresh().catch(onFailed);
      for (const round of rounds) round.start();
    },
    async close() {
      await Promise.all(rounds.map((round) => round.stop()));
      await deps.closeSenders();
    },
  };
  return notifications;
}

async function listEvents(
  { outbox }: NotificationDeps,
  { limit, cursor, state }: EventsWindow,
): ReturnType<Notifications['events']> {
  const before = cursor === undefined ? undefined : await outbox.find(cursor);
  if (cursor !== undefined && before === undefined)
    throw new GatewayError('invalid_request', 'query.cursor: is no event that is kept.');
  const found = await outbox.list({ limit: limit + 1, before, state });
  const events = found.slice(0, limit);
  const deliveries = await outbox.ofEvents(events.map(({ id }) => id));
  return {
    events: events.map((event) => ({ event, deliveries: deliveries.filter(({ eventId }) => eventId === event.id) })),
    nextCursor: found.length > limit ? (events.at(-1)?.id ?? null) : null,
  };
}

async function resend({ outbox, jobs, clock }: NotificationDeps, id: string): Promise<EventWithDeliveries> {
  const event = await outbox.find(id);
  if (event === undefined || event.state === 'silent') throw new GatewayError('not_found', 'There is no such event.');
  const deliveries = await outbox.ofEvents([id]);
  const over = deliveries.filter(({ state }) => state === 'sent' || state === 'failed' || state === 'dropped');
  if (over.length === 0)
    throw new GatewayError('invalid_request', 'The event is being delivered, or no channel wanted it.', {
      status: 409,
    });
  for (const delivery of over) {
    await outbox.change(delivery.id, { state: 'queued', attempts: 0, status: null, error: null });
    await jobs.add({
      kind: NOTIFY,
      subjectId: delivery.channelId,
      id: `${NOTIFY} ${delivery.id} ${Math.floor(clock.nowMs())}`,
      checkpoint: { delivery: delivery.id },
    });
  }
  return { event, deliveries: await outbox.ofEvents([id]) };
}
