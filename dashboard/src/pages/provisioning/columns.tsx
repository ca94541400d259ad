import type { Schemas } from '../../api/client.ts';
import { nameOf, type Workspace } from '../../api/lists.ts';
import { Badge, Status } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';

export type Group = Schemas['ScimGroup'];
export type Mapping = Schemas['ScimGroupMapping'];
export type PushedUser = Schemas['ScimUser'];
export type ScimRequest = Schemas['ScimRequest'];
export type Token = Schemas['ScimToken'];

export const USER_TONES = { active: 'good', disabled: 'warn', deleted: 'bad' } as const;

/** Why a user is what it is, in words. */
export function reasonOf({ state, disabled_by: by, forgotten_at: forgottenAt }: PushedUser): string {
  if (state === 'deleted')
    return forgottenAt === null
      ? 'the provider deleted it'
      : `the provider deleted it; it is erased after ${forgottenAt.slice(0, 10)}`;
  if (state === 'active') return 'pushed as active';
  if (by === 'scim') return 'the provider deactivated it';
  return by === 'admin' ? 'an admin disabled it here' : 'it was disabled';
}

/** What a mapping gives, in words. */
function grantOf({ role, workspace_id: id }: Mapping, workspaces: readonly Workspace[] | undefined): string {
  return `${role} of ${nameOf(workspaces, id)}`;
}

export function groupColumns(
  mappings: readonly Mapping[],
  workspaces: readonly Workspace[] | undefined,
): readonly Column<Group>[] {
  return [
    {
      id: 'name',
      title: 'Group',
      width: 180,
      cell: ({ display_name: name }) => (
        <span className="font-medium">
          <Name>{name}</Name>
        </span>
      ),
    },
    {
      id: 'members',
      title: 'Members',
      width: 80,
      align: 'right',
      cell: ({ member_count: count }) => formatCount(count),
    },
    {
      id: 'grants',
      title: 'Makes them',
      width: 260,
      grows: true,
      cell: ({ id }) => {
        const own = mappings.filter(({ scim_group_id: group }) => group === id);
        if (own.length === 0) return <span className="text-dim">members of nothing</span>;
        return <Name>{own.map((mapping) => grantOf(mapping, workspaces)).join(', ')}</Name>;
      },
    },
    { id: 'updated', title: 'Changed', width: 110, cell: ({ updated_at: at }) => <Ago at={at} /> },
  ];
}

export const USER_COLUMNS: readonly Column<PushedUser>[] = [
  {
    id: 'name',
    title: 'User',
    width: 220,
    cell: ({ user_name: name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: 90,
    cell: ({ state }) => <Badge tone={USER_TONES[state]}>{state}</Badge>,
  },
  {
    id: 'reason',
    title: 'Because',
    width: 260,
    grows: true,
    cell: (user) => <span className="text-dim">{reasonOf(user)}</span>,
  },
  { id: 'groups', title: 'Groups', width: 70, align: 'right', cell: ({ groups }) => formatCount(groups) },
  { id: 'updated', title: 'Pushed last', width: 110, cell: ({ updated_at: at }) => <Ago at={at} /> },
];

export const REQUEST_COLUMNS: readonly Column<ScimRequest>[] = [
  { id: 'at', title: 'When', width: 100, cell: ({ at }) => <Ago at={at} /> },
  { id: 'status', title: 'Status', width: 60, cell: ({ status }) => <Status status={status} /> },
  {
    id: 'request',
    title: 'Request',
    width: 280,
    cell: ({ method, path }) => (
      <span className="font-mono text-xs">
        {method} <Name>{path.replace('/scim/v2', '')}</Name>
      </span>
    ),
  },
  {
    id: 'outcome',
    title: 'What changed, or why not',
    width: 320,
    grows: true,
    cell: ({ status, outcome }) =>
      outcome === '' ? (
        <span className="text-dim">nothing changed</span>
      ) : (
        <span className={status >= 400 ? 'text-bad' : ''}>
          <Name>{outcome}</Name>
        </span>
      ),
  },
];
