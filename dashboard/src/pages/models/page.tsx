import { useNavigate } from '@tanstack/react-router';
import { type ReactElement } from 'react';
import { numberOf, textOf, useAnalytics } from '../../api/analytics.ts';
import { useModels, useModelsOfKey, type Model } from '../../api/models.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Checkbox, Segments } from '../../parts/field.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { KeySelect } from '../../parts/selects/key-select.tsx';
import { formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { useNow } from '../../parts/text.tsx';
import { boundsOf } from '../../parts/time.ts';
import { abilitiesOf, modelColumns, type ModelUse } from './columns.tsx';
import { Compare } from './compare.tsx';
import { MODEL_SORTS, parseModelsSearch, type ModelsSearch } from './search.ts';

/** The models, their prices, and how well they run. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseModelsSearch);
  const models = useModels();
  const figuresOf = useUse();
  const navigate = useNavigate();
  const usable = useModelsOfKey(search.key);
  const isUsable = ({ id }: Model): boolean => search.key === '' || usable.data?.has(id) === true;
  const found = (models.data ?? [])
    .filter((model) => isUsable(model) && passes(model, search))
    .toSorted(ORDERS[search.sort]);
  const compared = (models.data ?? []).filter(({ id }) => search.compare.includes(id));
  return (
    <Frame
      title="Models"
      isFilled
      lead={
        models.data === undefined ? undefined : `${formatCount(found.length)} of ${formatCount(models.data.length)}`
      }
      bar={<Bar search={search} change={change} />}
    >
      {compared.length > 0 && (
        <Compare
          models={compared}
          onRemove={(id) => change({ compare: search.compare.filter((other) => other !== id).join(',') }, false)}
        />
      )}
      <Load of={models}>
        {(all) =>
          found.length > 0 ? (
            <Grid
              label="Models"
              columns={modelColumns(figuresOf)}
              rows={found}
              keyOf={({ id }) => id}
              onOpen={({ id }) => void navigate({ to: `/ui/models/${id}` })}
            />
          ) : all.length > 0 ? (
            <NothingMatches
              what="model"
              filters={[
                {
                  name: 'Drop the filters',
                  onDrop: () =>
                    change({
                      q: undefined,
                      tools: undefined,
                      reasoning: undefined,
                      image: undefined,
                      sandbox: undefined,
                      key: undefined,
                    }),
                },
              ]}
            />
          ) : (
            <Empty
              title="No model is there"
              action={
                <LinkButton to="/ui/start" look="primary">
                  Connect a provider
                </LinkButton>
              }
            >
              <p>Models come with the providers that have a credential.</p>
            </Empty>
          )
        }
      </Load>
    </Frame>
  );
}

function Bar({ search, change }: { readonly search: ModelsSearch; readonly change: ChangeSearch }): ReactElement {
  const setFilter = (q: string): void => change({ q }, false);
  const flag = (name: string, isOn: boolean): void => change({ [name]: isOn ? 'true' : undefined });
  return (
    <>
      <FilterBox value={search.filter} onChange={setFilter} placeholder="claude, acme/, …" label="Filter models" />
      <Segments
        label="Order"
        value={search.sort}
        options={MODEL_SORTS.map((value) => ({ value, label: value }))}
        onChange={(sort) => change({ sort: sort === 'name' ? undefined : sort })}
      />
      <KeySelect
        label="Usable with key"
        isLabelHidden
        value={search.key}
        none="of any key"
        onChange={(key) => change({ key })}
      />
      <Checkbox label="tools" checked={search.hasTools} onChange={(event) => flag('tools', event.target.checked)} />
      <Checkbox
        label="reasoning"
        checked={search.hasReasoning}
        onChange={(event) => flag('reasoning', event.target.checked)}
      />
      <Checkbox
        label="pictures in"
        checked={search.seesImages}
        onChange={(event) => flag('image', event.target.checked)}
      />
      <Checkbox
        label="no sandbox"
        checked={search.hidesSandbox}
        onChange={(event) => change({ sandbox: event.target.checked ? 'false' : undefined })}
      />
    </>
  );
}

const byName = (a: Model, b: Model): number => a.id.localeCompare(b.id);
const ORDERS: Readonly<Record<(typeof MODEL_SORTS)[number], (a: Model, b: Model) => number>> = {
  name: byName,
  price: (a, b) => Number(a.pricing.prompt) - Number(b.pricing.prompt) || byName(a, b),
  context: (a, b) => (b.context_length ?? 0) - (a.context_length ?? 0) || byName(a, b),
  newest: (a, b) => b.created - a.created || byName(a, b),
};

function passes(model: Model, search: ModelsSearch): boolean {
  const can = abilitiesOf(model);
  return (
    matches(search.filter, model.id, model.name) &&
    (!search.hasTools || can.includes('tools')) &&
    (!search.hasReasoning || can.includes('reasoning')) &&
    (!search.seesImages || model.architecture.input_modalities.includes('image')) &&
    (!search.hidesSandbox || !model.id.startsWith('sandbox/'))
  );
}

/** Use and speed of all models, by one call. */
function useUse(): (id: string) => ModelUse | undefined {
  const result = useAnalytics({
    metrics: ['request_count', 'total_usage', 'ttft_p50', 'throughput_p50'],
    dimensions: ['model'],
    range: boundsOf('7d', useNow()),
    limit: 1_000,
  });
  const byId = new Map((result.data?.rows ?? []).map((row) => [textOf(row, 'model'), row]));
  return (id) => {
    const row = byId.get(id);
    if (row === undefined) return undefined;
    const orNull = (name: string): number | null => (row[name] === null ? null : numberOf(row, name));
    return {
      requests: numberOf(row, 'request_count'),
      usd: numberOf(row, 'total_usage'),
      firstMs: orNull('ttft_p50'),
      speed: orNull('throughput_p50'),
    };
  };
}
