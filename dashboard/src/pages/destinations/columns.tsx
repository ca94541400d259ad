import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Name } from '../../parts/text.tsx';

export type Destination = Schemas['ObservabilityDestination'];

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
    width: 80,
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'dim'}>{enabled ? 'on' : 'off'}</Badge>,
  },
];

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
