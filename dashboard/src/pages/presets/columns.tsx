import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Name } from '../../parts/text.tsx';

export type Preset = Schemas['Preset'];

export const PRESET_COLUMNS: readonly Column<Preset>[] = [
  {
    id: 'slug',
    title: 'Preset',
    width: 180,
    cell: ({ slug }) => (
      <span className="font-medium">
        <Name>{slug}</Name>
      </span>
    ),
  },
  { id: 'name', title: 'Name', width: 180, cell: ({ name }) => <Name>{name}</Name> },
  {
    id: 'description',
    title: 'What for',
    width: 260,
    grows: true,
    cell: ({ description }) => <span className="text-dim">{description ?? '–'}</span>,
  },
  { id: 'changed', title: 'Changed', width: 110, cell: ({ updated_at: at }) => <Ago at={at} /> },
  {
    id: 'state',
    title: 'State',
    width: 100,
    cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'dim'}>{status}</Badge>,
  },
];
