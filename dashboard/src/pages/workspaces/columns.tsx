import type { Workspace } from '../../api/lists.ts';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Ago, Money, Name } from '../../parts/text.tsx';

export interface WorkspaceRow {
  readonly workspace: Workspace;
  readonly keys: number;
  readonly month: number;
}

export const WORKSPACE_COLUMNS: readonly Column<WorkspaceRow>[] = [
  {
    id: 'name',
    title: 'Workspace',
    width: 160,
    grows: true,
    cell: ({ workspace }) => (
      <span className="font-medium">
        <Name>{workspace.name}</Name>
      </span>
    ),
  },
  {
    id: 'slug',
    title: 'Slug',
    width: 130,
    cell: ({ workspace }) => <span className="font-mono text-xs text-dim">{workspace.slug}</span>,
  },
  {
    id: 'keys',
    title: 'Keys',
    width: 60,
    align: 'right',
    cell: ({ keys }) => <span className="font-mono text-xs">{formatCount(keys)}</span>,
  },
  { id: 'month', title: 'Keys, this month', width: 120, align: 'right', cell: ({ month }) => <Money usd={month} /> },
  {
    id: 'model',
    title: 'Default model',
    width: 150,
    cell: ({ workspace }) => workspace.default_text_model ?? <span className="text-dim">none</span>,
  },
  { id: 'kept', title: 'Content', width: 150, cell: ({ workspace }) => keptOf(workspace) },
  { id: 'created', title: 'Created', width: 100, cell: ({ workspace }) => <Ago at={workspace.created_at} /> },
];

/** In one plain sentence, since it is about what people wrote. */
export function keptOf({
  is_observability_io_logging_enabled: isKept,
  io_logging_sampling_rate: rate,
}: Workspace): string {
  return isKept ? `${(rate * 100).toFixed(rate < 0.01 ? 2 : 0)} % is kept` : 'nothing is kept';
}
