import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Name } from '../../parts/text.tsx';

export type Channel = Schemas['NotificationChannel'];
export type Event = Schemas['NotificationEvent'];

export const STATE_TONES = { ok: 'good', failing: 'warn', disabled: 'bad' } as const;
export const SEVERITY_TONES = { info: 'dim', warning: 'warn', critical: 'bad' } as const;
export const DELIVERY_TONES = {
  queued: 'warn',
  held: 'dim',
  sent: 'good',
  failed: 'bad',
  merged: 'dim',
  dropped: 'dim',
} as const;

export function stateOf({ enabled, state }: Channel): string {
  return enabled ? state : state === 'disabled' ? 'switched off' : 'off';
}

export function targetOf({ url, recipients }: Channel): string {
  return url ?? (recipients ?? []).join(', ');
}

export const CHANNEL_COLUMNS: readonly Column<Channel>[] = [
  {
    id: 'name',
    title: 'Channel',
    width: 150,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  { id: 'kind', title: 'Kind', width: 100, cell: ({ kind }) => <span className="text-dim">{kind}</span> },
  { id: 'target', title: 'Where', width: 240, cell: (channel) => <Name>{targetOf(channel)}</Name> },
  {
    id: 'events',
    title: 'Events',
    width: 260,
    cell: ({ events }) => <span className="text-dim">{events.includes('*') ? 'all' : events.join(', ')}</span>,
  },
  { id: 'sent', title: 'Last sent', width: 100, cell: ({ last_sent_at: at }) => <Ago at={at} /> },
  {
    id: 'state',
    title: 'State',
    width: 100,
    cell: (channel) => <Badge tone={channel.enabled ? STATE_TONES[channel.state] : 'dim'}>{stateOf(channel)}</Badge>,
  },
];

export const EVENT_COLUMNS: readonly Column<Event>[] = [
  {
    id: 'title',
    title: 'What happened',
    width: 280,
    grows: true,
    cell: ({ title }) => <Name>{title}</Name>,
  },
  { id: 'type', title: 'Event', width: 160, cell: ({ type }) => <span className="text-dim">{type}</span> },
  {
    id: 'severity',
    title: 'Severity',
    width: 90,
    cell: ({ severity }) => <Badge tone={SEVERITY_TONES[severity]}>{severity}</Badge>,
  },
  {
    id: 'deliveries',
    title: 'Deliveries',
    width: 160,
    cell: ({ deliveries }) => (
      <span className="text-dim">{deliveries.length === 0 ? 'no channel' : summaryOf(deliveries)}</span>
    ),
  },
  { id: 'at', title: 'When', width: 100, cell: ({ created_at: at }) => <Ago at={at} /> },
];

/** Such as "2 sent, 1 failed". */
function summaryOf(deliveries: Event['deliveries']): string {
  const counts = new Map<string, number>();
  for (const { state } of deliveries) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}
