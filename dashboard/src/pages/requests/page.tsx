import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { useAnalytics } from '../../api/analytics.ts';
import { toBuckets } from '../../api/buckets.ts';
import { asApiError } from '../../api/errors.ts';
import { exportGenerations, readGenerations, type GenerationPage, type GenerationRow } from '../../api/generations.ts';
import { mergeRows } from '../../api/live/tail.ts';
import { useLiveTail, type LiveTail } from '../../api/live/use-live.ts';
import { useKeys } from '../../api/lists.ts';
import { useConsole } from '../../api/session.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { ExportButtons } from '../../parts/export-buttons.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { RangeSelect } from '../../parts/selects/range-select.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { useNow } from '../../parts/text.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { boundsOf, formatMoment, granularityOf, RANGE_LABELS } from '../../parts/time.ts';
import { ColumnChooser } from './column-chooser.tsx';
import { chosenColumns, requestColumns } from './columns.tsx';
import { FilterBar } from './filter-bar.tsx';
import { Peek } from './peek.tsx';
import { parseRequestsSearch, type RequestsSearch } from './search.ts';
import { Running, RunningButton } from './running.tsx';
import { TailButtons, TailNotes } from './tail.tsx';

const PAGE = 100;
/** Where there is no live view. */
const READ_AGAIN_MS = 5_000;

/** Find one request among millions. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseRequestsSearch);
  const [isPaused, setIsPaused] = useState(false);
  const nowMs = useNow();
  const filters = Object.fromEntries(search.filters.map(({ name, value }) => [name, value]));
  const live = useLiveTail(filters, search.isTailing, isPaused);
  const toggle = (): void => {
    if (!search.isTailing) change({ tail: 'true' }, false);
    else if (isPaused) live.resume();
    setIsPaused(search.isTailing && !isPaused);
  };
  useHotkeys({ p: toggle });
  return (
    <Frame
      title="Requests"
      isFilled
      actions={
        <>
          <RangeSelect
            value={search.range}
            onChange={(range) => change({ range: range === '24h' ? undefined : range })}
          />
          <ExportButtons
            name="requests"
            read={(format) => exportGenerations(filters, { from: boundsOf(search.range, nowMs).start, format })}
          />
          <RunningButton
            isShown={search.hasRunning}
            onToggle={() => change({ running: search.hasRunning ? undefined : 'true' }, false)}
          />
          <ColumnChooser chosen={search.columns} onChange={(cols) => change({ cols }, false)} />
          <TailButtons
            isTailing={search.isTailing}
            isPaused={isPaused}
            waiting={live.tail?.waitingCount ?? 0}
            onToggle={toggle}
            onEnd={() => {
              setIsPaused(false);
              change({ tail: undefined }, false);
            }}
          />
        </>
      }
      bar={<FilterBar filters={search.filters} onChange={change} />}
    >
      {search.hasRunning && <Running />}
      <Found
        search={search}
        change={change}
        filters={filters}
        live={live}
        isPolled={search.isTailing && !isPaused && live.tail === undefined}
      />
    </Frame>
  );
}

function Found({
  search,
  change,
  filters,
  live: { tail, forgetGap },
  isPolled,
}: {
  readonly search: RequestsSearch;
  readonly change: ChangeSearch;
  readonly filters: Readonly<Record<string, string>>;
  readonly live: LiveTail;
  readonly isPolled: boolean;
}): ReactElement {
  const bounds = boundsOf(search.range, useNow());
  const list = useInfiniteQuery({
    queryKey: ['generations', search.range, filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readGenerations(
        filters,
        { from: bounds.start, limit: PAGE, ...(pageParam !== '' && { cursor: pageParam }) },
        signal,
      ),
    getNextPageParam: ({ cursor }) => cursor,
    refetchInterval: isPolled ? READ_AGAIN_MS : false,
    retry: false,
  });
  const rows = mergeRows(tail?.rows ?? [], list.data?.pages.flatMap((page) => page.rows) ?? []);
  const readAgain = (): void => void list.refetch().then(forgetGap);
  if (list.isPending) return <Skeleton rows={14} />;
  if (list.isError && rows.length === 0)
    return <Failure error={asApiError(list.error)} onRetry={() => void list.refetch()} />;
  return (
    <>
      <Histogram search={search} bounds={bounds} />
      {tail !== undefined && <TailNotes tail={tail} onReadAgain={readAgain} />}
      {rows.length === 0 ? (
        <None search={search} change={change} />
      ) : (
        <Rows
          rows={rows}
          search={search}
          change={change}
          foot={
            list.hasNextPage ? (
              <Older
                last={list.data?.pages.at(-1)}
                isLooking={list.isFetchingNextPage}
                onMore={() => void list.fetchNextPage()}
              />
            ) : undefined
          }
        />
      )}
    </>
  );
}

function Older({
  last,
  isLooking,
  onMore,
}: {
  readonly last: GenerationPage | undefined;
  readonly isLooking: boolean;
  readonly onMore: () => void;
}): ReactElement {
  return (
    <div className="flex items-center gap-3 p-3 text-dim">
      <Button disabled={isLooking} onClick={onMore}>
        {isLooking ? 'Looking …' : 'Load older'}
      </Button>
      {last?.searchedTo !== undefined && <span>looked back to {formatMoment(new Date(last.searchedTo))}</span>}
      {last?.lookedAt !== undefined && <span>{formatCount(last.lookedAt)} looked at</span>}
    </div>
  );
}

function Rows({
  rows,
  search,
  change,
  foot,
}: {
  readonly rows: readonly GenerationRow[];
  readonly search: RequestsSearch;
  readonly change: ChangeSearch;
  readonly foot: ReactElement | undefined;
}): ReactElement {
  const { isOperator } = useConsole();
  const keys = useKeys(isOperator);
  const navigate = useNavigate();
  const nowMs = useNow();
  const keyName = (hash: string): string => keys.data?.find((key) => key.hash === hash)?.name ?? hash.slice(0, 8);
  const at = rows.findIndex(({ id }) => id === search.peek);
  const peekAt = (index: number): (() => void) | undefined => {
    const row = rows[index];
    return row === undefined ? undefined : () => change({ peek: row.id }, false);
  };
  const peeked = rows[at];
  const open = ({ id }: GenerationRow): void => void navigate({ to: `/ui/requests/${id}` });
  return (
    <div className="flex min-h-0 flex-1">
      <Grid
        label="Requests"
        columns={chosenColumns(requestColumns(nowMs, keyName), search.columns)}
        rows={rows}
        keyOf={({ id }) => id}
        chosen={search.peek}
        onOpen={open}
        onPeek={({ id }) => change({ peek: id }, false)}
        foot={foot}
      />
      {peeked !== undefined && (
        <Peek
          row={peeked}
          onClose={() => change({ peek: undefined }, false)}
          onPrevious={peekAt(at - 1)}
          onNext={peekAt(at + 1)}
          onOpen={() => open(peeked)}
        />
      )}
    </div>
  );
}

const CHART_FILTERS: Readonly<Record<string, string>> = {
  model: 'model',
  key: 'api_key_id',
  session: 'session',
  workspace: 'workspace',
  provider: 'provider',
};

/** Requests and errors of the range: of those filters that analytics has. */
function Histogram({
  search,
  bounds,
}: {
  readonly search: RequestsSearch;
  readonly bounds: { readonly start: string; readonly end: string };
}): ReactElement | undefined {
  const granularity = granularityOf(search.range);
  const filters = search.filters.flatMap(({ name, value }) => {
    const field = CHART_FILTERS[name];
    return field === undefined || value.includes('*') ? [] : [{ field, operator: 'eq' as const, value }];
  });
  const result = useAnalytics({ metrics: ['request_count', 'error_count'], granularity, range: bounds, filters });
  if (result.data === undefined || result.data.rows.length === 0) return undefined;
  const shape = { granularity, range: bounds } as const;
  const requests = toBuckets(result.data.rows, { ...shape, metric: 'request_count' });
  const errors = toBuckets(result.data.rows, { ...shape, metric: 'error_count' });
  return (
    <div className="border-b border-line bg-surface px-4 pt-1 max-sm:hidden">
      <TimeChart
        title={`Requests, ${RANGE_LABELS[search.range]}`}
        kind="bars"
        height={84}
        times={requests.times}
        series={[
          { name: 'requests', values: requests.series[0]?.values ?? [] },
          { name: 'errors', values: errors.series[0]?.values ?? [], color: '--color-bad' },
        ]}
      />
    </div>
  );
}

function None({ search, change }: { readonly search: RequestsSearch; readonly change: ChangeSearch }): ReactElement {
  if (search.filters.length > 0)
    return (
      <NothingMatches
        what={`request, ${RANGE_LABELS[search.range]},`}
        filters={search.filters.map(({ name, value }) => ({
          name: `${name}: ${value}`,
          onDrop: () => change({ [name]: undefined }),
        }))}
      />
    );
  const text = `curl -s ${location.origin}/v1/chat/completions \\\n  -H "Authorization: Bearer $GATEWAY_API_KEY" -H 'Content-Type: application/json' \\\n  -d '{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello"}]}'`;
  return (
    <Empty
      title={`No request, ${RANGE_LABELS[search.range]}`}
      action={
        <LinkButton to="/ui/playground" look="primary">
          Ask in the playground
        </LinkButton>
      }
    >
      <p>Each call of a model is a row here, with what it cost and where it went. This one needs no provider:</p>
      <CodeBlock label="A first request" text={text} />
    </Empty>
  );
}
