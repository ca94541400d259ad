import { VaultError } from '../canonical/vault-reference.ts';
import type { JobKind, JobOutcome, JobRun } from '../jobs/contract.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ChannelRow } from '../resources/notification-channels.ts';
import type { NotificationDelivery, NotificationEvent } from '../store/notifications/columns.ts';
import type { NotificationDeps } from './deps.ts';
import { deliveryId, NOTIFY } from './hand-on.ts';
import { digestOf, DIGEST_LINES_MAX, messageOf, type Message } from './message.ts';
import { quietUntilMs } from './quiet-hours.ts';
import { noteFailure, noteSuccess } from './channel-state.ts';
import { openConfig, withAddress } from './sealed-address.ts';
import type { SendResult } from './senders/sender.ts';

/** Pauses before the second attempt and those after it: 30 s, 2, 10, 30 min, 2, 6, 12 h. */
const RETRY_MS = [30_000, 120_000, 600_000, 1_800_000, 7_200_000, 21_600_000, 43_200_000] as const;
/** Attempts at an address that refuses what it is sent. */
const REFUSED_ATTEMPTS_MAX = 3;
const JITTER = 0.2;
const HOUR_MS = 3_600_000;
/** Of what waited in a channel, in one digest. */
const HELD_MAX = 1_000;
/** The job itself fails where the database does; deliveries count their attempts themselves. */
const JOB_RETRY_MS = [5_000, 30_000, 120_000, 600_000] as const;

/** Delivers one event to one channel, or what waited there as a digest. */
export function notifyKind(deps: NotificationDeps): JobKind {
  return { kind: NOTIFY, retryDelaysMs: JOB_RETRY_MS, run: (run) => deliver(deps, run) };
}

const DONE: JobOutcome = { state: 'done' };

async function deliver(deps: NotificationDeps, run: JobRun): Promise<JobOutcome> {
  const { outbox, channels, clock } = deps;
  const id = run.job.checkpoint['delivery'];
  const delivery = typeof id === 'string' ? await outbox.findDelivery(id) : undefined;
  if (delivery === undefined || (delivery.state !== 'queued' && delivery.state !== 'held')) return DONE;
  const [channel, event] = await Promise.all([channels.find(delivery.channelId), outbox.find(delivery.eventId)]);
  if (channel === undefined || event === undefined || !channel.enabled) {
    await outbox.change(delivery.id, { state: 'dropped' });
    return DONE;
  }
  const nowMs = Math.floor(clock.nowMs());
  // What is on its way already goes on.
  const heldUntilMs = delivery.attempts === 0 ? await heldUntil(deps, channel, { event, delivery }, nowMs) : undefined;
  if (heldUntilMs !== undefined) {
    await outbox.change(delivery.id, { state: 'held' });
    return { state: 'again', afterMs: heldUntilMs - nowMs };
  }
  // Others that were held run now, too: from here on none of them takes this one along.
  if (delivery.state === 'held' && !(await outbox.claim(delivery.id, 'queued'))) return DONE;
  const progress = progressOf(run);
  const message = await messageFor(deps, progress, delivery, event);
  const result = await send(deps, run.signal, progress, channel, message);
  if (!result.isSent) run.signal.throwIfAborted();
  return conclude(deps, channel, { ...delivery, state: 'queued' }, result);
}

/** What a repeat goes on from. */
interface Progress {
  readonly now: () => JsonObject;
  add(changes: JsonObject): Promise<void>;
}

function progressOf({ job, save }: JobRun): Progress {
  let now = job.checkpoint;
  return {
    now: () => now,
    async add(changes) {
      now = { ...now, ...changes };
      await save(now);
    },
  };
}

/** Until quiet hours end, which do not hold what is critical, or until the next hour where this one is used up. */
async function heldUntil(
  { outbox }: NotificationDeps,
  channel: ChannelRow,
  { event: { severity }, delivery }: { readonly event: NotificationEvent; readonly delivery: NotificationDelivery },
  nowMs: number,
): Promise<number | undefined> {
  const quiet = severity === 'critical' ? undefined : quietUntilMs(channel.quietHours, nowMs);
  if (quiet !== undefined) return quiet;
  const hourMs = nowMs - (nowMs % HOUR_MS);
  const hour = { sinceMs: hourMs, nowMs, max: channel.maxPerHour };
  return (await outbox.takePlace(delivery, hour)) ? undefined : hourMs + HOUR_MS;
}

/** One that waited takes all along that waited with it. What it takes is stored first: a repeat says the same. */
async function messageFor(
  { outbox, publicUrl, clock }: NotificationDeps,
  progress: Progress,
  delivery: NotificationDelivery,
  event: NotificationEvent,
): Promise<Message> {
  let taken = takenIn(progress.now());
  if (taken !== undefined) {
    // The process may have ended before they were claimed.
    for (const id of taken.events) await outbox.claim(deliveryId({ id }, { id: delivery.channelId }), 'merged');
  } else if (delivery.state === 'held') {
    const others = (await outbox.held(delivery.channelId, HELD_MAX)).filter(({ id }) => id !== delivery.id);
    // Stored before they are claimed: rather named twice than never.
    if (others.length > 0) await progress.add({ ...takenOf(others) });
    const claimed: NotificationDelivery[] = [];
    for (const other of others) if (await outbox.claim(other.id, 'merged')) claimed.push(other);
    taken = claimed.length === 0 ? undefined : takenOf(claimed);
    if (claimed.length < others.length) await progress.add({ events: taken?.events ?? null, more: taken?.more ?? 0 });
  }
  if (taken === undefined) return messageOf(event, delivery.repeats, publicUrl);
  const found = await Promise.all(taken.events.map((id) => outbox.find(id)));
  const events = [event, ...found.flatMap((one) => one ?? [])];
  return digestOf(`${event.id}-digest`, events, taken.more, { publicUrl, nowMs: Math.floor(clock.nowMs()) });
}

interface Taken {
  readonly events: readonly string[];
  readonly more: number;
}

function takenOf(deliveries: readonly NotificationDelivery[]): Taken {
  const lines = deliveries.slice(0, DIGEST_LINES_MAX - 1);
  return { events: lines.map(({ eventId }) => eventId), more: deliveries.length - lines.length };
}

function takenIn({ events, more }: JsonObject): Taken | undefined {
  if (!Array.isArray(events)) return undefined;
  return { events: events.filter((id) => typeof id === 'string'), more: Number(more ?? 0) };
}

async function send(
  deps: NotificationDeps,
  signal: AbortSignal,
  progress: Progress,
  channel: ChannelRow,
  message: Message,
): Promise<SendResult> {
  const { senders, box, clock, onUnreadable } = deps;
  const sender = senders[channel.kind];
  if (sender === undefined)
    return { isSent: false, status: null, error: 'No mail server is configured (notifications.smtp).', kind: 'away' };
  let config;
  try {
    config = await withAddress(deps, openConfig(await box(), channel));
  } catch (error) {
    if (error instanceof VaultError) return { isSent: false, status: null, error: error.message, kind: 'away' };
    onUnreadable(channel.id, error);
    return {
      isSent: false,
      status: null,
      error: 'The secret that sealed the address is gone: set it anew.',
      kind: 'refused',
    };
  }
  const known = progress.now()['done'];
  const done = Array.isArray(known) ? known.filter((each) => typeof each === 'string') : [];
  const nowMs = clock.nowMs();
  return sender(message, {
    channel,
    config,
    signal,
    nowMs,
    done,
    async onDone(recipient) {
      done.push(recipient);
      await progress.add({ done: [...done] });
    },
  });
}

async function conclude(
  deps: NotificationDeps,
  channel: ChannelRow,
  delivery: NotificationDelivery,
  result: SendResult,
): Promise<JobOutcome> {
  const { outbox, clock, random, onSent } = deps;
  const attempts = delivery.attempts + 1;
  const nowMs = Math.floor(clock.nowMs());
  if (result.isSent) {
    await outbox.change(delivery.id, { state: 'sent', attempts, sentAtMs: nowMs, status: result.status, error: null });
    await noteSuccess(deps, channel, nowMs);
    onSent(channel.kind, 'sent');
    return DONE;
  }
  const { status, error, afterMs, kind } = result;
  const pauseMs = kind === 'refused' && attempts >= REFUSED_ATTEMPTS_MAX ? undefined : RETRY_MS[attempts - 1];
  const isLast = kind === 'gone' || pauseMs === undefined;
  await outbox.change(delivery.id, {
    state: isLast ? 'failed' : delivery.state,
    attempts,
    status,
    error,
    ...(isLast && { sentAtMs: null }),
  });
  await noteFailure(deps, channel, { error, isLast, isGone: kind === 'gone', nowMs });
  onSent(channel.kind, isLast ? 'failed' : 'again');
  if (isLast) return { state: 'failed', error };
  const jittered = Math.round(pauseMs * (1 + JITTER * (2 * random() - 1)));
  return { state: 'again', afterMs: Math.max(jittered, afterMs ?? 0), error };
}
