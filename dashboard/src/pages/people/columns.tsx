import type { ReactElement } from 'react';
import type { Person } from '../../api/lists.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';
import type { Provisioned } from './provisioned.ts';

const PERSON: Column<Person> = {
  id: 'email',
  title: 'Person',
  width: 240,
  grows: true,
  cell: (person) => (
    <span className="font-medium">
      <Name>{labelOf(person)}</Name>
    </span>
  ),
};
const ROLE: Column<Person> = {
  id: 'role',
  title: 'Role',
  width: 90,
  cell: ({ role }) => (
    <Badge tone={role === 'org:admin' ? 'accent' : 'dim'}>{role === 'org:admin' ? 'admin' : 'member'}</Badge>
  ),
};

/** Without an organization: what keys and workspaces name. */
export const NAMED_COLUMNS: readonly Column<Person>[] = [
  PERSON,
  ROLE,
  { id: 'id', title: 'Id', width: 280, cell: ({ id }) => <span className="font-mono text-xs text-dim">{id}</span> },
];

/** @param provisioned users that an identity provider pushes */
export const userColumns = (provisioned: ReadonlyMap<string, Provisioned>): readonly Column<Person>[] => [
  PERSON,
  { id: 'name', title: 'Name', width: 180, cell: (person) => <Name>{nameOf(person) || '–'}</Name> },
  ROLE,
  { id: 'state', title: 'State', width: 90, cell: StateBadge },
  {
    id: 'from',
    title: 'Comes from',
    width: 110,
    cell: ({ id }) => (provisioned.has(id) ? <Badge tone="accent">provisioned</Badge> : '–'),
  },
  {
    id: 'keys',
    title: 'Keys',
    width: 60,
    align: 'right',
    cell: ({ keys }) => <span className="font-mono text-xs">{formatCount(keys ?? 0)}</span>,
  },
  { id: 'seen', title: 'Seen', width: 110, cell: ({ last_seen_at: at }) => <Ago at={at} /> },
  { id: 'by', title: 'Signs in by', width: 120, cell: ({ sign_in: ways }) => ways?.join(', ') || '–' },
];

function StateBadge({ state }: Person): ReactElement {
  if (state === 'active') return <Badge tone="good">active</Badge>;
  return state === 'disabled' ? <Badge tone="bad">disabled</Badge> : <Badge tone="dim">named</Badge>;
}

export function labelOf({ email, id }: Person): string {
  return email === '' ? id : email;
}

export function nameOf({ first_name: first, last_name: last }: Person): string {
  return [first, last].filter(Boolean).join(' ');
}
