import type { ReactElement } from 'react';
import { numberOf, textOf, useAnalytics, type AnalyticsResult, type AnalyticsRow } from '../../api/analytics.ts';
import { toBuckets } from '../../api/buckets.ts';
import { client } from '../../api/client.ts';
import { useLiveRates } from '../../api/live/use-live.ts';
import { useRead } from '../../api/read.ts';
import { useConsole } from '../../api/session.ts';
import { Dot } from '../../parts/badge.tsx';
import { LinkButton, To } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { formatCompact, formatCount, formatUsd, formatUsdShort } from '../../parts/money.ts';
import { Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { RangeSelect } from '../../parts/selects/range-select.tsx';
import { Ranked } from '../../parts/ranked.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { Ago, Money, useNow } from '../../parts/text.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { boundsOf, formatMs, granularityOf, RANGE_LABELS, type Range } from '../../parts/time.ts';
import { parseOverviewSearch } from './search.ts';
import { Needs } from './needs.tsx';

const REFRESH_MS = 15_000;
const LISTED = 5;

/** Is it well, what does it cost, what changed. */
export function Page(): ReactElement {
  const [{ range }, change] = useSearchState(parseOverviewSearch);
  const { isOperator } = useConsole();
  const bounds = boundsOf(range, useNow());
  const granularity = granularityOf(range);
  const overTime = useAnalytics(
    {
      metrics: ['request_count', 'error_count', 'total_usage', 'unpriced_count'],
      dimensions: ['model'],
      granularity,
      range: bounds,
      limit: 10_000,
    },
    { everyMs: REFRESH_MS },
  );
  return (
    <Frame
      title="Overview"
      actions={<RangeSelect value={range} onChange={(next) => change({ range: next === '24h' ? undefined : next })} />}
    >
      <Load of={overTime}>
        {(result) => (
          <>
            <Figures result={result} range={range} bounds={bounds} isOperator={isOperator} />
            {isOperator && <Needs unpriced={total(result.rows, 'unpriced_count')} range={range} />}
            {result.rows.length === 0 ? (
              <NothingYet range={range} />
            ) : (
              <Charts result={result} range={range} bounds={bounds} />
            )}
          </>
        )}
      </Load>
      <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
        <Slowest bounds={bounds} />
        {isOperator && <Changes />}
      </div>
    </Frame>
  );
}

interface WithBounds {
  readonly bounds: { readonly start: string; readonly end: string };
}

function Figures({
  result,
  range,
  bounds,
  isOperator,
}: WithBounds & {
  readonly result: AnalyticsResult;
  readonly range: Range;
  readonly isOperator: boolean;
}): ReactElement {
  const speed = useAnalytics(
    { metrics: ['ttft_p50', 'ttft_p95', 'cache_hit_rate'], range: bounds },
    { everyMs: REFRESH_MS },
  );
  const rates = useLiveRates(true);
  const credits = useRead(['credits'], (signal) => client.GET('/credits', { signal }), { enabled: isOperator });
  const [requests, errors, usd, unpriced] = ['request_count', 'error_count', 'total_usage', 'unpriced_count'].map(
    (name) => total(result.rows, name),
  );
  const [row] = speed.data?.rows ?? [];
  const share = requests === 0 || requests === undefined ? 0 : (errors ?? 0) / requests;
  const isWell = share < 0.05;
  return (
    <Stats>
      <Stat
        label="State"
        hint={
          <To to="/ui/requests" search={{ status: 'error', range }}>
            {formatCount(errors)} errors
          </To>
        }
      >
        <span className="whitespace-nowrap">
          <Dot tone={isWell ? 'good' : 'bad'} isLive />
          {isWell ? 'All well' : `${(share * 100).toFixed(0)} % fail`}
        </span>
      </Stat>
      <Stat
        label="Right now"
        hint={
          rates === undefined ? 'no live view' : `${formatRate(rates.errors)} errors, ${formatUsdShort(rates.usd)} $`
        }
      >
        <span aria-label="Requests a second">
          {rates === undefined ? '–' : `${rates.isSampled ? '≥ ' : ''}${formatRate(rates.requests)} /s`}
        </span>
      </Stat>
      <Stat label={`Requests, ${RANGE_LABELS[range]}`} hint={`${(share * 100).toFixed(1)} % errors`}>
        {formatCompact(requests ?? 0)}
      </Stat>
      <Stat
        label={`Spend, ${RANGE_LABELS[range]}`}
        hint={(unpriced ?? 0) > 0 ? `${formatCount(unpriced)} of unknown price` : 'every price is known'}
      >
        <span title={`${formatUsd(usd, { places: 9 })} USD`}>
          {(unpriced ?? 0) > 0 && '≥ '}
          {formatUsdShort(usd)} $
        </span>
      </Stat>
      <Stat label="First token, median" hint={`p95 ${formatMs(orNull(row, 'ttft_p95'))}`}>
        {formatMs(orNull(row, 'ttft_p50'))}
      </Stat>
      {credits.data !== undefined && (
        <Stat
          label="Balance"
          hint={<To to="/ui/money">of {formatUsdShort(credits.data.data.total_credits)} $ granted</To>}
        >
          {formatUsdShort(credits.data.data.total_credits - credits.data.data.total_usage)} $
        </Stat>
      )}
    </Stats>
  );
}

function Charts({
  result,
  range,
  bounds,
}: WithBounds & { readonly result: AnalyticsResult; readonly range: Range }): ReactElement {
  const granularity = granularityOf(range);
  const shape = { granularity, range: bounds } as const;
  const requests = toBuckets(result.rows, { ...shape, metric: 'request_count' });
  const errors = toBuckets(result.rows, { ...shape, metric: 'error_count' });
  const spend = toBuckets(result.rows, { ...shape, metric: 'total_usage', groupBy: 'model' });
  const paid = spend.series.filter(({ values }) => values.some((value) => value > 0));
  return (
    <>
      <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
        <Section title="Requests">
          <TimeChart
            title={`Requests, ${RANGE_LABELS[range]}`}
            kind="bars"
            times={requests.times}
            series={[
              { name: 'requests', values: requests.series[0]?.values ?? [] },
              { name: 'errors', values: errors.series[0]?.values ?? [], color: '--color-bad' },
            ]}
          />
        </Section>
        <Section title="Spend by model">
          {paid.length === 0 ? (
            <p className="py-10 text-center text-dim">Nothing was paid for {RANGE_LABELS[range]}.</p>
          ) : (
            <TimeChart
              title={`Spend in USD by model, ${RANGE_LABELS[range]}`}
              times={spend.times}
              series={paid}
              format={formatUsdShort}
            />
          )}
        </Section>
      </div>
      <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
        <Section title="Dearest models">
          <Ranked
            empty="Nothing was paid for."
            rows={topOf(result.rows, 'total_usage').map(([name, usd]) => ({
              name,
              to: '/ui/requests',
              search: { model: name, range },
              value: usd,
              text: <Money usd={usd} />,
            }))}
          />
        </Section>
        <Section title="Most failures">
          <Ranked
            empty="Nothing failed."
            rows={topOf(result.rows, 'error_count').map(([name, count]) => ({
              name,
              to: '/ui/requests',
              search: { model: name, status: 'error', range },
              value: count,
              text: formatCount(count),
            }))}
          />
        </Section>
      </div>
    </>
  );
}

function Slowest({ bounds }: WithBounds): ReactElement {
  const speed = useAnalytics({
    metrics: ['ttft_p50', 'ttft_p95', 'request_count'],
    dimensions: ['model'],
    range: bounds,
    limit: 100,
  });
  const rows = (speed.data?.rows ?? [])
    .filter((row) => numberOf(row, 'ttft_p50') > 0)
    .toSorted((a, b) => numberOf(b, 'ttft_p50') - numberOf(a, 'ttft_p50'));
  return (
    <Section title="Slowest models, first token">
      <Load of={speed} rows={3}>
        {() => (
          <Ranked
            empty="No stream in this range."
            rows={rows.slice(0, LISTED).map((row) => ({
              name: textOf(row, 'model'),
              to: `/ui/models/${textOf(row, 'model')}`,
              value: numberOf(row, 'ttft_p50'),
              text: formatMs(numberOf(row, 'ttft_p50')),
              note: `p95 ${formatMs(numberOf(row, 'ttft_p95'))}`,
            }))}
          />
        )}
      </Load>
    </Section>
  );
}

function Changes(): ReactElement {
  const audit = useRead(['audit', 'newest'], (signal) =>
    client.GET('/audit', { signal, params: { query: { limit: LISTED } } }),
  );
  return (
    <Section title="Changes" actions={<To to="/ui/audit">all</To>}>
      <Load of={audit} rows={3}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="py-2 text-dim">Nothing was changed yet.</p>
          ) : (
            <ul>
              {data.map((event) => (
                <li key={event.id} className="flex h-7 items-center gap-3 px-2">
                  <span className="font-medium">{event.action}</span>
                  <span className="min-w-0 flex-1 truncate font-mono text-xs text-dim">{event.subject}</span>
                  <span className="text-dim">
                    <Ago at={event.at} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Load>
    </Section>
  );
}

function NothingYet({ range }: { readonly range: Range }): ReactElement {
  const body = `{"model": "sandbox/echo", "messages": [{"role": "user", "content": "Hello, gateway!"}]}`;
  const lines = [
    `curl -s ${location.origin}/v1/chat/completions \\`,
    '  -H "Authorization: Bearer $GATEWAY_API_KEY" -H \'Content-Type: application/json\' \\',
    `  -d '${body}'`,
  ];
  return (
    <Empty
      title={`No request, ${RANGE_LABELS[range]}`}
      action={
        <>
          <LinkButton to="/ui/start" look="primary">
            Connect a provider
          </LinkButton>
          <LinkButton to="/ui/playground">Open the playground</LinkButton>
        </>
      }
    >
      <p>
        Requests, spend and failures are here as soon as a client sends one. The sandbox responds without any provider:
      </p>
      <CodeBlock label="A first request" text={lines.join('\n')} />
    </Empty>
  );
}

/** Of a second, with one decimal while it is small. */
function formatRate(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate));
}

function total(rows: readonly AnalyticsRow[], name: string): number {
  return rows.reduce((sum, row) => sum + numberOf(row, name), 0);
}

function orNull(row: AnalyticsRow | undefined, name: string): number | null {
  return row === undefined || row[name] === null ? null : numberOf(row, name);
}

function topOf(rows: readonly AnalyticsRow[], metric: string): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const row of rows) sums.set(textOf(row, 'model'), (sums.get(textOf(row, 'model')) ?? 0) + numberOf(row, metric));
  return [...sums]
    .filter(([, sum]) => sum > 0)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, LISTED);
}
