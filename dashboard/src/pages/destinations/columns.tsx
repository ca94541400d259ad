import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import { formatCount } from '../../parts/money.ts';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Name } from '../../parts/text.tsx';

export type Destination = Schemas['ObservabilityDestination'];

const TONES = { ok: 'good', retrying: 'warn', failing: 'bad', suspended: 'bad' } as const;

export const DESTINATION_COLUMNS: readonly Column<Destination>[] = [
  {
    id: 'name',
    title: 'Destination',
    width: 170,
    grows: true,
    cell: ({ name, type }) => (
      <span className="font-medium">
        <Name>{name ?? type}</Name>
      </span>
    ),
  },
  { id: 'type', title: 'Kind', width: 130, cell: ({ type }) => <span className="text-dim">{type}</span> },
  { id: 'gets', title: 'Gets', width: 170, cell: (destination) => getsOf(destination) },
  {
    id: 'switches',
    title: 'With',
    width: 230,
    cell: (destination) => <span className="text-dim">{switchesOf(destination).join(', ')}</span>,
  },
  { id: 'changed', title: 'Changed', width: 100, cell: ({ updated_at: at }) => <Ago at={at} /> },
  {
    id: 'state',
    title: 'State',
    width: 90,
    cell: ({ enabled, health }) => (
      <Badge tone={enabled ? TONES[health.state] : 'dim'}>{enabled ? health.state : 'off'}</Badge>
    ),
  },
];

/** How its records arrive. */
export function deliveriesOf({ health }: Destination): readonly (readonly [string, ReactNode])[] {
  const { last_error: failure, last_success_at: success } = health;
  return [
    [
      'State',
      <Badge key="state" tone={TONES[health.state]}>
        {health.state}
      </Badge>,
    ],
    [
      'Sent',
      <span key="sent">
        {formatCount(health.sent)}, last <Ago at={success} />
      </span>,
    ],
    ['Waiting', formatCount(health.pending)],
    ['Failed', formatCount(health.failed)],
    ['Dropped', formatCount(health.dropped)],
    ...(failure === null ? [] : [['Last failure', <Name key="failure">{failure.message}</Name>] as const]),
  ];
}

export function getsOf({ sampling_rate: rate, api_key_hashes: keys }: Destination): string {
  return `${(rate * 100).toFixed(rate < 0.01 ? 2 : 0)} % of sessions${keys === null ? '' : `, of ${keys.length} keys`}`;
}

export function switchesOf(destination: Destination): readonly string[] {
  return [
    ...(destination.privacy_mode ? ['never content'] : ['content, where it is kept']),
    ...(destination.broadcast_generation_cost ? ['cost'] : []),
    ...(destination.broadcast_generation_identity ? ['key and member'] : []),
    ...(destination.broadcast_generation_request_context ? ['program'] : []),
  ];
}
