import type { ReactElement } from 'react';
import type { KeptResponse } from '../../api/responses.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatBytes } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  incomplete: 'warn',
  failed: 'bad',
  queued: 'accent',
  in_progress: 'accent',
};

export function isUnderWay({ status }: KeptResponse): boolean {
  return status === 'queued' || status === 'in_progress';
}

export function State({ of: { status } }: { readonly of: KeptResponse }): ReactElement {
  return <Badge tone={TONES[status] ?? 'dim'}>{status.replace('_', ' ')}</Badge>;
}

export function backgroundOf({ background_runs: runs }: KeptResponse): string {
  if (runs === null) return '–';
  return runs === 0 ? 'waits' : runs === 1 ? 'began once' : `began ${runs} times`;
}

export const RESPONSE_COLUMNS: readonly Column<KeptResponse>[] = [
  {
    id: 'id',
    title: 'Response',
    width: 330,
    grows: true,
    cell: ({ id }) => (
      <span className="font-mono text-xs font-medium">
        <Name>{id}</Name>
      </span>
    ),
  },
  { id: 'state', title: 'State', width: 110, cell: (row) => <State of={row} /> },
  { id: 'background', title: 'Background', width: 100, cell: (row) => backgroundOf(row) },
  {
    id: 'continues',
    title: 'Continues',
    width: 150,
    cell: ({ previous_response_id: previous }) =>
      previous === null ? (
        <span className="text-dim">–</span>
      ) : (
        <span className="font-mono text-xs">
          <Name>{previous}</Name>
        </span>
      ),
  },
  {
    id: 'key',
    title: 'Key',
    width: 120,
    cell: ({ api_key_name: name, api_key_hash: hash }) => <Name>{name ?? hash.slice(0, 8)}</Name>,
  },
  {
    id: 'size',
    title: 'Size',
    width: 75,
    align: 'right',
    cell: ({ size_bytes: bytes }) => <span className="font-mono text-xs">{formatBytes(bytes)}</span>,
  },
  { id: 'made', title: 'Made', width: 90, cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    id: 'ends',
    title: 'Ends',
    width: 90,
    cell: ({ expires_at: at }) => (at === null ? <span className="text-dim">with use</span> : <Ago at={at} />),
  },
];
