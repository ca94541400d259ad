import type { ReactElement } from 'react';
import { exportAnalytics, useAnalytics, type AnalyticsQuestion, type AnalyticsResult } from '../../api/analytics.ts';
import { toBuckets } from '../../api/buckets.ts';
import { client, type Schemas } from '../../api/client.ts';
import { useKeys, useWorkspaces } from '../../api/lists.ts';
import { useRead } from '../../api/read.ts';
import { useConsole } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ExportButtons } from '../../parts/export-buttons.tsx';
import { Segments, Select } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { formatCompact, formatUsdShort } from '../../parts/money.ts';
import { Page as Frame, Section } from '../../parts/page.tsx';
import { RangeSelect } from '../../parts/selects/range-select.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { useNow } from '../../parts/text.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { nameOfZone } from '../../parts/preferences/zone.ts';
import { boundsOf, formatMs, granularityOf, RANGE_LABELS } from '../../parts/time.ts';
import { RowTable, type NameOf } from './row-table.tsx';
import { formatFilters, KINDS, parseAnalyticsSearch, type AnalyticsSearch } from './search.ts';

const SHOWN_MAX = 10_000;
const EXPORTED_MAX = 100_000;

type Meta = Schemas['GetAnalyticsMetaResponse']['data'];
type Metric = Meta['metrics'][number];

/** Any metric by any two dimensions. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseAnalyticsSearch);
  const meta = useRead(
    ['analytics-meta'],
    async (signal) => ({ data: (await client.GET('/analytics/meta', { signal })).data?.data }),
    { isOnDemand: true },
  );
  return (
    <Frame
      title="Analytics"
      actions={
        <RangeSelect value={search.range} onChange={(range) => change({ range: range === '7d' ? undefined : range })} />
      }
      bar={meta.data === undefined ? undefined : <Bar meta={meta.data} search={search} change={change} />}
    >
      <Load of={meta}>{(data) => <Results meta={data} search={search} change={change} />}</Load>
    </Frame>
  );
}

interface Props {
  readonly meta: Meta;
  readonly search: AnalyticsSearch;
  readonly change: ChangeSearch;
}

function Bar({ meta, search, change }: Props): ReactElement {
  const dimensions = [
    { value: 'none', label: 'nothing' },
    ...meta.dimensions.map(({ name, display_label: label }) => ({ value: name, label })),
  ];
  const setBy = (at: number, value: string): void => {
    const by = [...search.by];
    by[at] = value;
    change({ by: by.filter((name) => name !== 'none').join(',') || 'none' });
  };
  return (
    <>
      <Select
        label="Metric"
        isLabelHidden
        value={search.metric}
        options={meta.metrics.map(({ name, display_label: label }) => ({ value: name, label }))}
        onChange={(m) => change({ m })}
      />
      <span className="text-dim">by</span>
      <Select
        label="First dimension"
        isLabelHidden
        value={search.by[0] ?? 'none'}
        options={dimensions}
        onChange={(dimension) => setBy(0, dimension)}
      />
      <span className="text-dim">×</span>
      <Select
        label="Second dimension"
        isLabelHidden
        value={search.by[1] ?? 'none'}
        options={dimensions}
        onChange={(dimension) => setBy(1, dimension)}
      />
      <Segments
        label="Shown as"
        value={search.kind}
        options={KINDS.map((value) => ({ value, label: value }))}
        onChange={(kind) => change({ kind: kind === 'line' ? undefined : kind }, false)}
      />
      {search.filters.map((filter) => (
        <span
          key={`${filter.field} ${filter.value}`}
          className="inline-flex h-7 items-center gap-1 rounded-md bg-chosen pl-2 text-xs"
        >
          {filter.isExcluded ? 'not ' : ''}
          {filter.field}: {filter.value}
          <button
            type="button"
            aria-label={`Drop the filter ${filter.field}`}
            onClick={() => change({ f: formatFilters(search.filters.filter((other) => other !== filter)) })}
            className="inline-flex size-7 items-center justify-center"
          >
            <Icon name="close" size={12} />
          </button>
        </span>
      ))}
    </>
  );
}

function Results({ meta, search, change }: Props): ReactElement {
  const bounds = boundsOf(search.range, useNow());
  const granularity = granularityOf(search.range);
  const metric = meta.metrics.find(({ name }) => name === search.metric) ?? meta.metrics[0];
  const nameOf = useNames();
  const base: AnalyticsQuestion = {
    metrics: [...new Set([search.metric, 'request_count', 'unpriced_count'])],
    dimensions: search.by,
    range: bounds,
    limit: SHOWN_MAX,
    filters: search.filters.map(({ field, value, isExcluded }) => ({
      field,
      operator: isExcluded ? ('neq' as const) : ('eq' as const),
      value,
    })),
  };
  const rows = useAnalytics(base, { isOnDemand: true });
  const overTime = useAnalytics({ ...base, dimensions: search.by.slice(0, 1), granularity }, { isOnDemand: true });
  if (metric === undefined) return <Empty title="Nothing is measured" />;
  return (
    <Load of={rows}>
      {(result) =>
        result.rows.length === 0 ? (
          <Empty
            title={`No request, ${RANGE_LABELS[search.range]}`}
            action={
              <Button onClick={() => change({ range: '30d', f: undefined })}>Look at 30 days without filters</Button>
            }
          />
        ) : (
          <>
            <Warnings result={result} />
            {search.kind !== 'table' && overTime.data !== undefined && (
              <Chart result={overTime.data} metric={metric} search={search} bounds={bounds} nameOf={nameOf} />
            )}
            <Section
              title={`${metric.display_label}, ${RANGE_LABELS[search.range]}`}
              isFlush
              actions={
                <ExportButtons
                  name={`analytics-${search.metric}`}
                  read={(format) => exportAnalytics({ ...base, limit: EXPORTED_MAX }, format)}
                />
              }
            >
              <RowTable
                rows={result.rows}
                by={search.by}
                metric={metric}
                format={formatOf(metric)}
                nameOf={nameOf}
                onFilter={(field, value, isExcluded) =>
                  change({ f: formatFilters([...search.filters, { field, value, isExcluded }]) })
                }
              />
            </Section>
          </>
        )
      }
    </Load>
  );
}

function Warnings({ result }: { readonly result: AnalyticsResult }): ReactElement | undefined {
  const warnings = [
    ...result.warnings,
    ...(result.isTruncated ? ['Only the first 10,000 rows are shown: the file has up to 100,000.'] : []),
  ];
  if (warnings.length === 0) return undefined;
  return (
    <p role="note" className="border-b border-line bg-warn-soft px-4 py-1 text-warn">
      {warnings.join(' ')}
    </p>
  );
}

function Chart({
  result,
  metric,
  search,
  bounds,
  nameOf,
}: {
  readonly result: AnalyticsResult;
  readonly metric: Metric;
  readonly search: AnalyticsSearch;
  readonly bounds: { readonly start: string; readonly end: string };
  readonly nameOf: NameOf;
}): ReactElement {
  const [dimension] = search.by;
  const buckets = toBuckets(result.rows, {
    granularity: granularityOf(search.range),
    range: bounds,
    metric: metric.name,
    ...(dimension !== undefined && { groupBy: dimension }),
  });
  return (
    <Section
      title={`${metric.display_label} over time, ${granularityOf(search.range) === 'day' ? 'days of UTC' : nameOfZone()}`}
    >
      <TimeChart
        title={`${metric.display_label}, ${RANGE_LABELS[search.range]}`}
        kind={search.kind === 'bars' ? 'bars' : 'line'}
        height={240}
        times={buckets.times}
        series={buckets.series.map(({ name, values }) => ({
          name: dimension === undefined ? metric.display_label : nameOf(dimension, name),
          values,
        }))}
        format={formatOf(metric)}
      />
    </Section>
  );
}

/** How the API says that a metric is to be shown. */
function formatOf({ display_format: format }: Metric): (value: number) => string {
  if (format === 'currency') return (value) => formatUsdShort(value);
  if (format === 'percent') return (value) => `${(value * 100).toFixed(1)} %`;
  if (format === 'latency') return (value) => formatMs(value);
  return (value) => formatCompact(value);
}

/** Keys and workspaces by their names. */
function useNames(): NameOf {
  const { isOperator } = useConsole();
  const keys = useKeys(isOperator);
  const workspaces = useWorkspaces(isOperator);
  return (dimension, value) => {
    if (dimension === 'api_key_id') return keys.data?.find(({ hash }) => hash === value)?.name ?? value.slice(0, 12);
    if (dimension === 'workspace') return workspaces.data?.find(({ id }) => id === value)?.name ?? value.slice(0, 8);
    return value === '' ? 'none' : value;
  };
}
