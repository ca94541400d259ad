import { useState, type ReactElement } from 'react';
import { numberOf, textOf, useAnalytics } from '../../api/analytics.ts';
import { client } from '../../api/client.ts';
import { useList, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Segments } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Load } from '../../parts/states.tsx';
import { useNow } from '../../parts/text.tsx';
import { boundsOf } from '../../parts/time.ts';
import { BringCredential } from './bring-credential.tsx';
import { PROVIDER_COLUMNS, type ProviderRow } from './columns.tsx';
import { ProviderPanel } from './panel.tsx';
import { parseProvidersSearch } from './search.ts';

const STATES = [
  { value: 'on', label: 'On, or with a credential' },
  { value: 'all', label: 'All known' },
] as const;

/** The providers that are connected, each with its credential. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseProvidersSearch);
  const [peek, setPeek] = useState<string>();
  const providers = useRead(['providers'], (signal) => client.GET('/providers', { signal }));
  const rows = useRows(providers.data?.data ?? []);
  const setFilter = (q: string): void => change({ q }, false);
  useHotkeys({ n: () => change({ new: 'true' }) });
  const found = rows.filter(
    (row) =>
      (search.state === 'all' || row.isOn || row.credentials.length > 0 || row.requests > 0) &&
      matches(search.filter, row.name, row.slug),
  );
  const peeked = found.find(({ slug }) => slug === peek);
  return (
    <Frame
      title="Providers"
      isFilled
      actions={
        <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
          Bring a credential
        </Button>
      }
      bar={
        <>
          <FilterBox value={search.filter} onChange={setFilter} placeholder="openai" label="Filter providers" />
          <Segments
            label="Which"
            value={search.state}
            options={STATES}
            onChange={(state) => change({ state: state === 'on' ? undefined : state })}
          />
        </>
      }
    >
      <Load of={providers}>
        {() =>
          found.length === 0 ? (
            <NothingMatches
              what="provider"
              filters={[{ name: 'Show all known providers', onDrop: () => change({ q: undefined, state: 'all' }) }]}
            />
          ) : (
            <div className="flex min-h-0 flex-1">
              <Grid
                label="Providers"
                columns={PROVIDER_COLUMNS}
                rows={found}
                keyOf={({ slug }) => slug}
                chosen={peek}
                onPeek={({ slug }) => setPeek(slug)}
              />
              {peeked !== undefined && (
                <ProviderPanel key={peeked.slug} provider={peeked} onClose={() => setPeek(undefined)} />
              )}
            </div>
          )
        }
      </Load>
      <BringCredential
        key={String(search.isNew)}
        providers={rows}
        isOpen={search.isNew}
        onClose={() => change({ new: undefined }, false)}
      />
    </Frame>
  );
}

interface Provider {
  readonly slug: string;
  readonly name: string;
  readonly headquarters: string | null;
  readonly datacenters: readonly string[] | null;
}

/** Providers with their credentials, whether they are on, and a week of use: four calls for all rows. */
function useRows(providers: readonly Provider[]): readonly ProviderRow[] {
  const credentials = useList(['byok'], (window, signal) => client.GET('/byok', { signal, params: { query: window } }));
  const use = useAnalytics({
    metrics: ['request_count', 'error_count', 'total_usage'],
    dimensions: ['provider'],
    range: boundsOf('7d', useNow()),
  });
  const statuses = useRead(['provider-statuses'], (signal) => client.GET('/providers/status', { signal }));
  const known = new Set(providers.flatMap(({ slug, name }) => [slug, name]));
  const others = (use.data?.rows ?? [])
    .map((row) => textOf(row, 'provider'))
    .filter((name) => name !== '' && !known.has(name));
  const all = [
    ...providers,
    ...others.map((name): Provider => ({ slug: name, name, headquarters: null, datacenters: null })),
  ];
  return all.map(({ slug, name, headquarters, datacenters }) => {
    const row = use.data?.rows.find((one) => textOf(one, 'provider') === slug || textOf(one, 'provider') === name);
    const status = statuses.data?.data.find((one) => one.slug === slug);
    return {
      slug,
      name,
      isOn: status?.on === true,
      hint: status?.hint ?? undefined,
      credential: status?.credential ?? undefined,
      formats: status?.formats ?? [],
      models: status?.models ?? 0,
      headquarters,
      datacenters: datacenters ?? [],
      credentials: (credentials.data?.items ?? []).filter(({ provider }) => provider === slug),
      requests: numberOf(row, 'request_count'),
      errors: numberOf(row, 'error_count'),
      usd: numberOf(row, 'total_usage'),
    };
  });
}
