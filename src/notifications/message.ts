import type { JsonObject } from '../lib/json.ts';
import { truncateAtWord } from '../lib/text/truncate.ts';
import type { Severity } from '../resources/notification-channels.ts';
import type { NotificationEvent } from '../store/notifications/columns.ts';

/** What a channel is sent. It holds no content of requests and no key. */
export interface Message {
  /** Equal in every repeat. */
  readonly id: string;
  readonly type: string;
  readonly severity: Severity;
  readonly subject: string;
  readonly workspaceId: string | null;
  readonly title: string;
  readonly text: string;
  readonly values: JsonObject;
  /** An address of the dashboard; null: the gateway has none. */
  readonly link: string | null;
  readonly atMs: number;
}

const TITLE_CHARS_MAX = 200;
const TEXT_CHARS_MAX = 2_000;
/** Lines of a digest; what is beyond is counted. */
export const DIGEST_LINES_MAX = 50;

export function messageOf(event: NotificationEvent, repeats: number, publicUrl: string | undefined): Message {
  const more = repeats === 0 ? '' : ` It happened ${repeats + 1} times.`;
  return {
    id: event.id,
    type: event.type,
    severity: event.severity,
    subject: event.subject,
    workspaceId: event.workspaceId,
    title: titleOf(event),
    text: cut(event.text, TEXT_CHARS_MAX) + more,
    values: repeats === 0 ? event.facts : { ...event.facts, repeats: repeats + 1 },
    link: publicUrl === undefined || event.link === null ? null : `${publicUrl}${event.link}`,
    atMs: event.createdAtMs,
  };
}

/** One message for all that waited. @param more events that have no line */
export function digestOf(
  id: string,
  events: readonly NotificationEvent[],
  more: number,
  { publicUrl, nowMs }: { readonly publicUrl: string | undefined; readonly nowMs: number },
): Message {
  const lines = events.map(({ severity, title }) => `- ${severity}: ${titleOf({ title })}`);
  const rest = more === 0 ? [] : [`and ${more} more`];
  const severity = events.some((event) => event.severity === 'critical')
    ? 'critical'
    : events.some((event) => event.severity === 'warning')
      ? 'warning'
      : 'info';
  return {
    id,
    type: 'digest',
    severity,
    subject: 'digest',
    workspaceId: null,
    title: `${events.length + more} notifications that waited`,
    text: [...lines, ...rest].join('\n'),
    values: { count: events.length + more, events: events.map(({ id: event, type }) => ({ id: event, type })) },
    link: publicUrl === undefined ? null : `${publicUrl}/ui/notifications`,
    atMs: nowMs,
  };
}

/** One line, whatever names it holds. */
function titleOf({ title }: Pick<NotificationEvent, 'title'>): string {
  return cut(title.replaceAll(/\p{Cc}+/gu, ' '), TITLE_CHARS_MAX);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${truncateAtWord(text, max - 3)}...`;
}
