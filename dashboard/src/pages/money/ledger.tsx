import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { usePages } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, To } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { Grid, type Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import type { ChangeSearch } from '../../parts/search.ts';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';
import { AdjustCredit } from './adjust-credit.tsx';
import { ENTRY_KINDS, type MoneySearch } from './search.ts';

type Entry = Schemas['CreditEntry'];

const ALL = { value: '', label: 'all kinds' } as const;

/** Every entry of the ledger, newest first. */
export function Ledger({
  search: { kind },
  change,
}: {
  readonly search: MoneySearch;
  readonly change: ChangeSearch;
}): ReactElement {
  const [isAdjusting, setIsAdjusting] = useState(false);
  const list = usePages(['ledger', kind], (window, signal) =>
    client.GET('/credits/entries', { signal, params: { query: { ...window, ...(kind !== '' && { kind }) } } }),
  );
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line bg-surface px-4 py-1.5">
        <Select
          label="Kind"
          isLabelHidden
          value={kind}
          options={[ALL, ...ENTRY_KINDS.map((value) => ({ value, label: value.replaceAll('_', ' ') }))]}
          onChange={(next) => change({ kind: next })}
        />
        {list.data !== undefined && <span className="text-dim">{formatCount(list.data.total)} entries</span>}
        <span className="flex-1" />
        <Button onClick={() => setIsAdjusting(true)}>Adjust the balance</Button>
      </div>
      {list.isPending && <Skeleton />}
      {list.isError && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.data !== undefined &&
        (list.data.items.length === 0 ? (
          <Empty title={kind === '' ? 'No credit is tracked yet' : `No entry of the kind “${kind}”`}>
            <p>Grants, adjustments and what requests used are entries here. Spend is recorded with or without them.</p>
          </Empty>
        ) : (
          <Grid
            label="Ledger"
            columns={COLUMNS}
            rows={list.data.items}
            total={list.data.total}
            keyOf={({ id }) => id}
            foot={
              list.hasNextPage ? (
                <div className="p-3">
                  <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                    Load older
                  </Button>
                </div>
              ) : undefined
            }
          />
        ))}
      <AdjustCredit key={String(isAdjusting)} isOpen={isAdjusting} onClose={() => setIsAdjusting(false)} />
    </div>
  );
}

const COLUMNS: readonly Column<Entry>[] = [
  { id: 'time', title: 'When', width: 110, cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    id: 'kind',
    title: 'Kind',
    width: 110,
    cell: ({ kind, amount }) => <Badge tone={amount < 0 ? 'dim' : 'good'}>{kind.replaceAll('_', ' ')}</Badge>,
  },
  { id: 'amount', title: 'USD', width: 140, align: 'right', cell: ({ amount }) => <Money usd={amount} places={9} /> },
  {
    id: 'for',
    title: 'For',
    width: 240,
    grows: true,
    cell: ({ generation_id: id, note }) =>
      id === null ? <Name>{note ?? '–'}</Name> : <To to={`/ui/requests/${id}`}>{id}</To>,
  },
  {
    id: 'key',
    title: 'Key',
    width: 120,
    cell: ({ key_hash: hash }) => (hash === null ? '–' : <To to={`/ui/keys/${hash}`}>{hash.slice(0, 10)}</To>),
  },
  { id: 'by', title: 'By', width: 140, cell: ({ author }) => <Name>{author ?? '–'}</Name> },
];
