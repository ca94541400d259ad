import type { ReactNode } from 'react';
import { nameOf, type ApiKey, type Workspace } from '../../api/lists.ts';
import { Badge, Meter, type Tone } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatUsdShort } from '../../parts/money.ts';
import { Ago, Money, Name } from '../../parts/text.tsx';

const NEAR = 0.8;

/** A key whose spend is close to its limit, or at it. */
export function isNearLimit({ limit, limit_remaining: left }: ApiKey): boolean {
  return limit !== null && left !== null && limit - left >= limit * NEAR;
}

function stateOf(key: ApiKey): readonly [Tone, string] {
  if (key.disabled) return ['dim', 'disabled'];
  if (key.expires_at !== null && new Date(key.expires_at).getTime() < Date.now()) return ['bad', 'expired'];
  if (key.limit !== null && key.limit_remaining !== null && key.limit_remaining <= 0) return ['bad', 'at its limit'];
  return isNearLimit(key) ? ['warn', 'near its limit'] : ['good', 'active'];
}

/** Spent of the limit, as a bar with its words; without a limit the spend alone. */
function spentOf({ limit, limit_remaining: left, usage, name }: ApiKey): ReactNode {
  if (limit === null || left === null)
    return (
      <span>
        <Money usd={usage} /> <span className="text-dim">no limit</span>
      </span>
    );
  return (
    <span className="flex items-center gap-2">
      <Meter used={limit - left} limit={limit} label={`Spent by ${name}`} />
      <span className="font-mono text-xs">
        {formatUsdShort(limit - left)} of {formatUsdShort(limit)} $
      </span>
    </span>
  );
}

export function keyColumns(workspaces: readonly Workspace[] | undefined): readonly Column<ApiKey>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      width: 150,
      grows: true,
      cell: ({ name }) => (
        <span className="font-medium">
          <Name>{name}</Name>
        </span>
      ),
    },
    {
      id: 'label',
      title: 'Label',
      width: 130,
      cell: ({ label }) => <span className="font-mono text-xs text-dim">{label}</span>,
    },
    {
      id: 'workspace',
      title: 'Workspace',
      width: 105,
      cell: (key) => <Name>{nameOf(workspaces, key.workspace_id)}</Name>,
    },
    { id: 'spent', title: 'Spent', width: 200, cell: spentOf },
    {
      id: 'month',
      title: 'This month',
      width: 100,
      align: 'right',
      cell: ({ usage_monthly: usd }) => <Money usd={usd} />,
    },
    {
      id: 'resets',
      title: 'Resets',
      width: 80,
      cell: ({ limit_reset: reset }) => reset ?? <span className="text-dim">never</span>,
    },
    { id: 'created', title: 'Created', width: 90, cell: ({ created_at: at }) => <Ago at={at} /> },
    { id: 'expires', title: 'Expires', width: 80, cell: ({ expires_at: at }) => <Ago at={at} /> },
    {
      id: 'state',
      title: 'State',
      width: 105,
      cell: (key) => {
        const [tone, word] = stateOf(key);
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
  ];
}
