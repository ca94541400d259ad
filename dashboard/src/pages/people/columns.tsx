import type { ItemOf, Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Name } from '../../parts/text.tsx';

export type Person = ItemOf<Schemas['ListOrganizationMembersResponse']>;

export const PEOPLE_COLUMNS: readonly Column<Person>[] = [
  {
    id: 'email',
    title: 'Person',
    width: 240,
    grows: true,
    cell: ({ email }) => (
      <span className="font-medium">
        <Name>{email}</Name>
      </span>
    ),
  },
  {
    id: 'name',
    title: 'Name',
    width: 200,
    cell: ({ first_name: first, last_name: last }) => <Name>{[first, last].filter(Boolean).join(' ') || '–'}</Name>,
  },
  {
    id: 'role',
    title: 'Role',
    width: 120,
    cell: ({ role }) => (
      <Badge tone={role === 'org:admin' ? 'accent' : 'dim'}>{role === 'org:admin' ? 'admin' : 'member'}</Badge>
    ),
  },
  { id: 'id', title: 'Id', width: 280, cell: ({ id }) => <span className="font-mono text-xs text-dim">{id}</span> },
];
