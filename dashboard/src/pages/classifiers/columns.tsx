import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount, formatUsd, formatUsdShort } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';

export type Classifier = Schemas['Classifier'];

export const CLASSIFIER_COLUMNS: readonly Column<Classifier>[] = [
  {
    id: 'name',
    title: 'Classifier',
    width: 160,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  { id: 'model', title: 'Model', width: 180, cell: ({ model }) => <Name>{model}</Name> },
  {
    id: 'dimensions',
    title: 'Sorts by',
    width: 200,
    cell: ({ dimensions }) => <Name>{dimensions.map(({ name }) => name).join(', ')}</Name>,
  },
  { id: 'share', title: 'Reads', width: 80, align: 'right', cell: ({ sampling_rate: rate }) => formatShare(rate) },
  {
    id: 'today',
    title: 'Today',
    width: 110,
    align: 'right',
    cell: ({ today }) => formatCount(today.classified),
  },
  {
    id: 'cost',
    title: 'Cost today',
    width: 150,
    cell: ({ today, daily_cost_limit_usd: limit }) => (
      <span>
        {formatUsd(today.cost)} <span className="text-dim">of {formatUsdShort(limit)}</span>
      </span>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: 80,
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'dim'}>{enabled ? 'on' : 'off'}</Badge>,
  },
];

export function formatShare(rate: number): string {
  return `${Number((rate * 100).toFixed(2))} %`;
}
