import type { Schemas } from '../../api/client.ts';
import { Status } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';
import { formatUtc } from '../../parts/time.ts';

export type ScimRequest = Schemas['ScimRequest'];
export type ScimToken = Schemas['ScimToken'];
export type ScimGroup = Schemas['ScimGroup'];
export type ScimMapping = Schemas['ScimGroupMapping'];

export const REQUEST_COLUMNS: readonly Column<ScimRequest>[] = [
  {
    id: 'time',
    title: 'Time UTC',
    width: 160,
    cell: ({ at }) => <span className="font-mono text-xs">{formatUtc(new Date(at)).slice(0, 19)}</span>,
  },
  { id: 'status', title: 'Status', width: 70, cell: ({ status }) => <Status status={status} /> },
  {
    id: 'request',
    title: 'Request',
    width: 300,
    cell: ({ method, path }) => (
      <span className="font-mono text-xs">
        {method} <Name>{path}</Name>
      </span>
    ),
  },
  {
    id: 'outcome',
    title: 'What changed, or why not',
    width: 280,
    grows: true,
    cell: ({ outcome }) =>
      outcome === '' ? <span className="text-dim">nothing changed</span> : <Name>{outcome}</Name>,
  },
];

export const GROUP_COLUMNS: readonly Column<ScimGroup>[] = [
  {
    id: 'name',
    title: 'Group',
    width: 220,
    grows: true,
    cell: ({ display_name: name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'members',
    title: 'Members',
    width: 90,
    align: 'right',
    cell: ({ member_count: members }) => formatCount(members),
  },
  {
    id: 'external',
    title: 'Id at the provider',
    width: 220,
    cell: ({ external_id: id }) => (
      <span className="font-mono text-xs text-dim">{id === null ? '–' : <Name>{id}</Name>}</span>
    ),
  },
  { id: 'changed', title: 'Changed', width: 110, cell: ({ updated_at: at }) => <Ago at={at} /> },
];

export const TOKEN_COLUMNS: readonly Column<ScimToken>[] = [
  {
    id: 'name',
    title: 'Token',
    width: 200,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'label',
    title: 'Excerpt',
    width: 190,
    cell: ({ label }) => <span className="font-mono text-xs">{label}</span>,
  },
  { id: 'used', title: 'Last used', width: 110, cell: ({ last_used_at: at }) => <Ago at={at} /> },
  {
    id: 'from',
    title: 'From',
    width: 140,
    cell: ({ last_used_from: from }) => <span className="font-mono text-xs">{from ?? '–'}</span>,
  },
  {
    id: 'ends',
    title: 'Ends',
    width: 110,
    cell: ({ expires_at: at }) =>
      at === null ? <span className="text-warn">never</span> : formatUtc(new Date(at)).slice(0, 10),
  },
];

/** @param groups, workspaces names by their ids */
export function mappingColumns(
  groups: ReadonlyMap<string, string>,
  workspaces: ReadonlyMap<string, string>,
): readonly Column<ScimMapping>[] {
  return [
    {
      id: 'group',
      title: 'Members of the group',
      width: 220,
      grows: true,
      cell: ({ scim_group_id: id }) => (
        <span className="font-medium">
          <Name>{groups.get(id) ?? id}</Name>
        </span>
      ),
    },
    { id: 'role', title: 'Are', width: 90, cell: ({ role }) => role },
    {
      id: 'workspace',
      title: 'Of the workspace',
      width: 200,
      cell: ({ workspace_id: id }) => <Name>{workspaces.get(id) ?? id}</Name>,
    },
    { id: 'made', title: 'Made', width: 110, cell: ({ created_at: at }) => <Ago at={at} /> },
  ];
}
