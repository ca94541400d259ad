import type { ReactElement } from 'react';
import { numberOf, textOf, useAnalytics } from '../../api/analytics.ts';
import { sumOf, toBuckets } from '../../api/buckets.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/field.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount, formatNanoUsd, formatUsdShort } from '../../parts/money.ts';
import { Page as Frame, Section, Stat, Stats } from '../../parts/page.tsx';
import { Ranked } from '../../parts/ranked.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Load } from '../../parts/states.tsx';
import { Money, useNow } from '../../parts/text.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { boundsOf, DAY_MS } from '../../parts/time.ts';
import { Budgets } from './budgets.tsx';
import { GrantCredit } from './grant-credit.tsx';
import { Ledger } from './ledger.tsx';
import { Reconcile } from './reconcile.tsx';
import { Saved } from './saved.tsx';
import { parseMoneySearch } from './search.ts';

const TABS = [
  { value: 'balance', label: 'Balance' },
  { value: 'budgets', label: 'Budgets' },
  { value: 'ledger', label: 'Ledger' },
  { value: 'reconcile', label: 'Reconcile' },
  { value: 'saved', label: 'Saved' },
] as const;

/** What was granted, spent and saved, and whether it adds up. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseMoneySearch);
  const { tab, isGranting } = search;
  useHotkeys({ n: () => change({ grant: 'true' }) });
  return (
    <Frame
      title="Money"
      isFilled={tab === 'ledger'}
      actions={
        <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ grant: 'true' })}>
          Grant credit
        </Button>
      }
      bar={
        <Segments
          label="Part"
          value={tab}
          options={TABS}
          onChange={(next) => change({ tab: next === 'balance' ? undefined : next, kind: undefined })}
        />
      }
    >
      {tab === 'balance' && <Balance />}
      {tab === 'budgets' && <Budgets />}
      {tab === 'ledger' && <Ledger search={search} change={change} />}
      {tab === 'reconcile' && <Reconcile />}
      {tab === 'saved' && <Saved />}
      <GrantCredit key={String(isGranting)} isOpen={isGranting} onClose={() => change({ grant: undefined }, false)} />
    </Frame>
  );
}

function Balance(): ReactElement {
  const credits = useRead(['credits'], (signal) => client.GET('/credits', { signal }));
  const nowMs = useNow();
  const bounds = boundsOf('30d', nowMs);
  const spend = useAnalytics({
    metrics: ['total_usage', 'unpriced_count', 'usage_cache'],
    dimensions: ['model'],
    granularity: 'day',
    range: bounds,
    limit: 10_000,
  });
  const rows = spend.data?.rows ?? [];
  const chart = toBuckets(rows, { granularity: 'day', range: bounds, metric: 'total_usage', groupBy: 'model' });
  const month = monthOf(
    chart.times,
    chart.times.map((_, at) => sumOf(chart.series.map(({ values }) => values[at] ?? 0))),
    nowMs,
  );
  const unpriced = rows.reduce((sum, row) => sum + numberOf(row, 'unpriced_count'), 0);
  const sign = unpriced > 0 ? '≥ ' : '';
  return (
    <>
      <Load of={credits} rows={2}>
        {({ data: { total_credits: granted, total_usage: used } }) => (
          <Stats>
            <Stat label="Balance" hint={<span className="font-mono">{formatNanoUsd(granted - used)}</span>}>
              {formatUsdShort(granted - used)} $
            </Stat>
            <Stat label="Granted">{formatUsdShort(granted)} $</Stat>
            <Stat label="Used" hint={<span className="font-mono">{formatNanoUsd(used)}</span>}>
              {formatUsdShort(used)} $
            </Stat>
            <Stat label="This month" hint={`about ${formatUsdShort(month.atThisPace)} $ at this pace`}>
              {sign}
              {formatUsdShort(month.spent)} $
            </Stat>
            <Stat label="Price unknown" hint="requests in 30 days">
              {formatCount(unpriced)}
            </Stat>
          </Stats>
        )}
      </Load>
      <Load of={spend}>
        {() => (
          <div className="grid lg:grid-cols-[2fr_1fr] lg:divide-x lg:divide-line">
            <Section title="Spend a day, UTC">
              <TimeChart
                title="Spend in USD a day, last 30 days"
                kind="bars"
                times={chart.times}
                series={[
                  {
                    name: 'USD',
                    values: chart.times.map((_, at) => sumOf(chart.series.map(({ values }) => values[at] ?? 0))),
                  },
                ]}
                format={formatUsdShort}
                height={200}
              />
            </Section>
            <Section title="By model, 30 days">
              <Ranked
                empty="Nothing was spent."
                rows={[...Map.groupBy(rows, (row) => textOf(row, 'model'))]
                  .map(([name, of]) => ({ name, usd: of.reduce((sum, row) => sum + numberOf(row, 'total_usage'), 0) }))
                  .filter(({ usd }) => usd > 0)
                  .toSorted((a, b) => b.usd - a.usd)
                  .slice(0, 8)
                  .map(({ name, usd }) => ({
                    name,
                    to: '/ui/requests',
                    search: { model: name, range: '30d' },
                    value: usd,
                    text: <Money usd={usd} />,
                  }))}
              />
            </Section>
          </div>
        )}
      </Load>
    </>
  );
}

/** Of the calendar month in UTC: spent so far, and what that makes at its end. */
function monthOf(
  times: readonly number[],
  values: readonly number[],
  nowMs: number,
): { readonly spent: number; readonly atThisPace: number } {
  const now = new Date(nowMs);
  const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  const spent = times.reduce((sum, time, at) => (time >= begin ? sum + (values[at] ?? 0) : sum), 0);
  const passed = Math.max(DAY_MS / 24, nowMs - begin);
  return { spent, atThisPace: (spent * (end - begin)) / passed };
}
