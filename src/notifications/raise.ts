import type { JsonObject } from '../lib/json.ts';
import { randomText } from '../lib/ids.ts';
import type { Severity } from '../resources/notification-channels.ts';
import type { NotificationEvent } from '../store/notifications/columns.ts';
import type { NotificationDeps } from './deps.ts';

/** What happened, in the words of its area. It names keys and models, and holds no content of requests. */
export interface NewEvent {
  readonly type: string;
  readonly severity: Severity;
  readonly subject: string;
  readonly workspaceId?: string | undefined;
  readonly title: string;
  readonly text: string;
  readonly facts: JsonObject;
  /** A path of the dashboard. */
  readonly link?: string;
  /** What happens once has one: of all processes the first reports it. */
  readonly mark?: string;
  /** Default: the mark counts for good. */
  readonly markUntilMs?: number | null;
  /** Only its mark counts: another event says it. */
  readonly isSilent?: boolean;
}

const ID_CHARS = 24;

/** Adds events to the outbox. @returns those that are new */
export async function raise(
  { outbox, clock }: Pick<NotificationDeps, 'outbox' | 'clock'>,
  events: readonly NewEvent[],
): Promise<readonly NotificationEvent[]> {
  const createdAtMs = Math.floor(clock.nowMs());
  return outbox.add(
    events.map((event) => ({
      id: `evt_${randomText(ID_CHARS)}`,
      type: event.type,
      severity: event.severity,
      subject: event.subject,
      workspaceId: event.workspaceId ?? null,
      title: event.title,
      text: event.text,
      facts: event.facts,
      link: event.link ?? null,
      mark: event.mark ?? null,
      markUntilMs: event.markUntilMs ?? null,
      state: event.isSilent === true ? 'silent' : 'new',
      createdAtMs,
    })),
  );
}
