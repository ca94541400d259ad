import type { ReactElement } from 'react';
import { numberOf, textOf, useAnalytics } from '../../api/analytics.ts';
import { formatCount, formatUsdShort } from '../../parts/money.ts';
import { Section, Stat, Stats } from '../../parts/page.tsx';
import { Ranked } from '../../parts/ranked.tsx';
import { Load } from '../../parts/states.tsx';
import { Money, useNow } from '../../parts/text.tsx';
import { boundsOf } from '../../parts/time.ts';

const SHOWN_MAX = 8;
const SAVINGS = [
  ['usage_cache', 'By prompt caches, 30 days'],
  ['router_savings', 'By routers, 30 days'],
] as const;

/** What was not spent, and the responses that a failure did not end. */
export function Saved(): ReactElement {
  const saved = useAnalytics({
    metrics: ['usage_cache', 'router_savings', 'rescue_count'],
    dimensions: ['model'],
    range: boundsOf('30d', useNow()),
    limit: 10_000,
  });
  return (
    <Load of={saved} rows={2}>
      {({ rows }) => {
        const sum = (name: string): number => rows.reduce((total, row) => total + numberOf(row, name), 0);
        return (
          <>
            <Stats>
              <Stat label="By prompt caches" hint="against the price without a cache, 30 days">
                {formatUsdShort(sum('usage_cache'))} $
              </Stat>
              <Stat label="By routers" hint="against the dearest choice, 30 days">
                {formatUsdShort(sum('router_savings'))} $
              </Stat>
              <Stat label="Responses rescued" hint="continued by another endpoint, 30 days">
                {formatCount(sum('rescue_count'))}
              </Stat>
            </Stats>
            <div className="grid lg:grid-cols-2 lg:divide-x lg:divide-line">
              {SAVINGS.map(([name, title]) => (
                <Section key={name} title={title}>
                  <Ranked
                    empty="Nothing was saved."
                    rows={rows
                      .map((row) => ({ model: textOf(row, 'model'), usd: numberOf(row, name) }))
                      .filter(({ usd }) => usd > 0)
                      .toSorted((one, other) => other.usd - one.usd)
                      .slice(0, SHOWN_MAX)
                      .map(({ model, usd }) => ({
                        name: model,
                        to: '/ui/requests',
                        search: { model, range: '30d' },
                        value: usd,
                        text: <Money usd={usd} />,
                      }))}
                  />
                </Section>
              ))}
            </div>
          </>
        );
      }}
    </Load>
  );
}
