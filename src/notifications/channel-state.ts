import type { ChannelRow } from '../resources/notification-channels.ts';
import type { NotificationDeps } from './deps.ts';
import { raise } from './raise.ts';

/** Failed attempts in a row after which a channel is shown as failing. */
const FAILING_AFTER = 3;
/** Events in a row that could not be delivered, after which a channel is switched off. */
const FAILED_EVENTS_MAX = 20;
/** The same after this time without a success. */
const FAILING_MS_MAX = 86_400_000;

type Deps = Pick<NotificationDeps, 'channels' | 'outbox' | 'clock' | 'onChange'>;

export async function noteSuccess({ channels }: Deps, { id }: ChannelRow, nowMs: number): Promise<void> {
  await channels.progress(id, {
    state: 'ok',
    failures: 0,
    failedEvents: 0,
    failingSinceMs: null,
    lastError: null,
    lastSentAtMs: nowMs,
  });
}

/** An attempt failed; a channel that fails for long is switched off, which the other channels report. */
export async function noteFailure(
  deps: Deps,
  channel: ChannelRow,
  {
    error,
    isLast,
    isGone,
    nowMs,
  }: { readonly error: string; readonly isLast: boolean; readonly isGone: boolean; readonly nowMs: number },
): Promise<void> {
  const now = await deps.channels.countFailure(channel.id, { error, isLast, nowMs });
  // It was deleted, or another attempt has switched it off.
  if (now === undefined || !now.enabled) return;
  const { failures, failedEvents, failingSinceMs } = now;
  const isOff = isGone || failedEvents >= FAILED_EVENTS_MAX || nowMs - (failingSinceMs ?? nowMs) >= FAILING_MS_MAX;
  if (isOff) await deps.channels.progress(channel.id, { state: 'disabled', enabled: false });
  else if (failures >= FAILING_AFTER) await deps.channels.progress(channel.id, { state: 'failing' });
  if (!isOff) return;
  await raise(deps, [
    {
      type: 'webhook.disabled',
      severity: 'warning',
      subject: `channel:${channel.id}`,
      title: `The channel "${channel.name}" was switched off`,
      text: `Nothing could be delivered to it: ${error} Change it and enable it again.`,
      facts: { channel_id: channel.id, channel: channel.name, kind: channel.kind, error },
      link: '/ui/notifications',
    },
  ]);
  await deps.onChange();
}
