import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Name } from '../../parts/text.tsx';

/** `image` is always null, which the typed client leaves out. */
export type Container = Omit<Schemas['Container'], 'image'>;

const MS_PER_S = 1_000;

export const CONTAINER_COLUMNS: readonly Column<Container>[] = [
  {
    id: 'id',
    title: 'Container',
    width: 200,
    grows: true,
    cell: ({ id }) => (
      <span className="font-mono text-xs font-medium">
        <Name>{id}</Name>
      </span>
    ),
  },
  {
    id: 'status',
    title: 'Status',
    width: 90,
    cell: ({ status }) => <Badge tone={status === 'warm' ? 'good' : 'dim'}>{status}</Badge>,
  },
  { id: 'memory', title: 'Memory', width: 90, align: 'right', cell: ({ memory_mb: memory }) => `${memory} MB` },
  { id: 'made', title: 'Made', width: 110, cell: ({ created_at: at }) => <Ago at={at * MS_PER_S} /> },
  { id: 'used', title: 'Last command', width: 120, cell: ({ last_active_at: at }) => <Ago at={at * MS_PER_S} /> },
  { id: 'ends', title: 'Removed', width: 110, cell: ({ expires_at: at }) => <Ago at={at * MS_PER_S} /> },
];

/** One container, for its panel. */
export function factsOf(container: Container): readonly (readonly [string, ReactNode])[] {
  const { status, memory_mb: memory, created_at: made, last_active_at: used, expires_at: ends } = container;
  return [
    ['Status', status === 'warm' ? 'warm: a command runs' : 'asleep: its files are kept'],
    ['Memory', `${memory} MB`],
    ['Hosts', container.allowed_hosts.join(', ') || 'none: it has no network'],
    ['Made', <Ago key="made" at={made * MS_PER_S} />],
    ['Last command', <Ago key="used" at={used * MS_PER_S} />],
    ['Removed', <Ago key="ends" at={ends * MS_PER_S} />],
  ];
}
