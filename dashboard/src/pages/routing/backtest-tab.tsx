import type { ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useCall } from '../../api/read.ts';
import { Button, To } from '../../parts/button.tsx';
import { Segments } from '../../parts/field.tsx';
import { KeySelect } from '../../parts/selects/key-select.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Section, Stat, Stats } from '../../parts/page.tsx';
import type { ChangeSearch } from '../../parts/search.ts';
import { Name } from '../../parts/text.tsx';
import { boundsOf, formatMoment, formatMs, RANGE_LABELS, RANGES } from '../../parts/time.ts';
import { Preferences } from './preferences.tsx';
import { toProvider, type RoutingSearch } from './search.ts';

type Result = Schemas['BacktestResult'];

/** The traffic of a range under other preferences: money, failures and speed. */
export function BacktestTab({
  search,
  change,
}: {
  readonly search: RoutingSearch;
  readonly change: ChangeSearch;
}): ReactElement {
  const provider = toProvider(search);
  const run = useCall((body: Schemas['BacktestRequest']) => client.POST('/route/backtest', { body }));
  const begin = (): void =>
    run.mutate({
      from: boundsOf(search.range, Date.now()).start,
      limit: LIMIT,
      ...(search.key !== '' && { key: search.key }),
      ...(search.model !== '' && { model: search.model }),
      provider,
    });
  return (
    <div className="grid lg:grid-cols-[320px_minmax(0,1fr)] lg:divide-x lg:divide-line">
      <Section title="The traffic, and what instead">
        <div className="flex flex-col gap-3">
          <Segments
            label="Of the"
            value={search.range}
            options={RANGES.map((value) => ({ value, label: RANGE_LABELS[value] }))}
            onChange={(range) => change({ range }, false)}
          />
          <KeySelect label="Of key" value={search.key} none="any" onChange={(key) => change({ key }, false)} />
          <Preferences search={search} change={change} />
          <Button look="primary" disabled={run.isPending} onClick={begin}>
            {run.isPending ? 'Planning …' : 'Run the backtest'}
          </Button>
        </div>
      </Section>
      <div aria-live="polite" className="min-w-0">
        {run.error !== null && (
          <p role="alert" className="m-4 rounded-md bg-bad-soft px-3 py-2 text-bad">
            {run.error.message}
          </p>
        )}
        {run.data === undefined ? (
          <p className="p-4 text-dim">
            The newest {formatCount(LIMIT)} requests are planned again under these preferences, and compared with what
            happened. Nothing is sent to a provider.
          </p>
        ) : (
          <Found result={run.data.data} />
        )}
      </div>
    </div>
  );
}

const LIMIT = 5_000;

function Found({ result }: { readonly result: Result }): ReactElement {
  const { cost, unserved, time_to_first_token: first, skipped } = result;
  const left = skipped.other_kinds + skipped.unknown_models + skipped.unusable_keys;
  return (
    <>
      <Stats>
        <Stat
          label="Planned again"
          hint={
            result.is_whole
              ? 'all of the range'
              : `the newest, since ${result.since === undefined || result.since === null ? '–' : formatMoment(new Date(result.since))}`
          }
        >
          {formatCount(result.requests)}
        </Stat>
        <Stat label="Cost" hint={`was ${formatUsd(cost.before)} $`}>
          {formatUsd(cost.after)} $
        </Stat>
        <Stat label="Without an endpoint" hint="no endpoint would have served them">
          {formatCount(unserved.count)}
        </Stat>
        <Stat label="Moved" hint="to another endpoint">
          {formatCount(result.moved)}
        </Stat>
        <Stat label="First token, median" hint={`was ${formatMs(first.before)}`}>
          {formatMs(first.after)}
        </Stat>
      </Stats>
      <Section title="By endpoint">
        <table className="w-full">
          <thead className="text-left text-xs text-dim">
            <tr className="border-b border-line">
              {['Provider', 'Model', 'Was', 'Would be'].map((title) => (
                <th key={title} scope="col" className="py-1 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {result.endpoints.map(({ provider, model, before, after }) => (
              <tr key={`${provider} ${model}`} className="h-7 border-b border-line last:border-0">
                <td className="font-medium">
                  <Name>{provider}</Name>
                </td>
                <td className="font-mono text-xs">
                  <Name>{model}</Name>
                </td>
                <td className="font-mono text-xs">{formatCount(before)}</td>
                <td className="font-mono text-xs">{formatCount(after)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {unserved.ids.length > 0 && (
        <Section title="Without an endpoint">
          <ul className="flex flex-wrap gap-x-4">
            {unserved.ids.map((id) => (
              <li key={id}>
                <To to={`/ui/requests/${id}`} className="font-mono text-xs hover:underline">
                  {id}
                </To>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="What this assumes">
        <ul className="list-disc pl-5 text-dim">
          {[
            ...result.assumptions,
            ...(left > 0
              ? [
                  `${formatCount(left)} are left out: ${skipped.other_kinds} of other kinds, ${skipped.unknown_models} of models that are gone, ${skipped.unusable_keys} of keys that may not be used.`,
                ]
              : []),
            ...(cost.unpriced > 0 ? [`${formatCount(cost.unpriced)} have an unknown price and are in no sum.`] : []),
          ].map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Section>
    </>
  );
}
