import type { ReactElement } from 'react';
import { Button } from '../../parts/button.tsx';
import { Segments, Select } from '../../parts/field.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { NewDataset } from './new-dataset.tsx';
import { Questions } from './questions.tsx';
import { DAYS, KEYS_MIN, parseDatasetsSearch, PERIODS, SORTS, type DatasetsSearch } from './search.ts';
import { Apps, Models, Sessions } from './traffic.tsx';

const TAB_OPTIONS = [
  { value: 'questions', label: 'Questions' },
  { value: 'models', label: 'Models' },
  { value: 'apps', label: 'Applications' },
  { value: 'sessions', label: 'Sessions' },
] as const;
const DAY_LABELS = { '30': '30 days to yesterday', '7': '7 days to yesterday', '1': 'yesterday' } as const;
const PERIOD_LABELS = { day: 'by day', week: 'by week', month: 'by month' } as const;
const SORT_LABELS = { popular: 'by tokens', trending: 'by growth' } as const;
const KEYS_LABELS = { '1': 'of any key', '3': 'of at least 3 keys', '10': 'of at least 10 keys' } as const;

/** Datasets of questions, and what the traffic of this gateway says in the shapes of public rankings. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseDatasetsSearch);
  const { tab, peek, isNew } = search;
  useHotkeys({ n: () => change({ tab: undefined, new: 'true' }) });
  const isTraffic = tab !== 'questions';
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ tab: undefined, new: 'true' })}>
      New dataset
    </Button>
  );
  return (
    <Frame
      title="Datasets"
      isFilled
      actions={create}
      bar={
        <>
          <Segments
            label="Show"
            value={tab}
            options={TAB_OPTIONS}
            onChange={(next) => change({ tab: next, peek: undefined })}
          />
          {isTraffic && <Choices search={search} onChange={change} />}
        </>
      }
    >
      {tab === 'questions' && <Questions peek={peek} create={create} onPeek={(id) => change({ peek: id }, false)} />}
      {tab === 'models' && <Models search={search} />}
      {tab === 'apps' && <Apps search={search} />}
      {tab === 'sessions' && <Sessions search={search} />}
      <NewDataset
        key={String(isNew)}
        isOpen={isNew}
        onClose={() => change({ new: undefined }, false)}
        onMade={(id) => change({ new: undefined, peek: id }, false)}
      />
    </Frame>
  );
}

function optionsOf<Value extends string>(values: readonly Value[], labels: Readonly<Record<Value, string>>) {
  return values.map((value) => ({ value, label: labels[value] }));
}

function Choices({
  search: { tab, days, period, sort, keysMin },
  onChange,
}: {
  readonly search: DatasetsSearch;
  readonly onChange: (patch: Readonly<Record<string, string>>) => void;
}): ReactElement {
  return (
    <>
      {tab !== 'sessions' && (
        <Select
          label="Days"
          isLabelHidden
          value={days}
          options={optionsOf(DAYS, DAY_LABELS)}
          onChange={(next) => onChange({ days: next })}
        />
      )}
      {tab === 'models' && (
        <Select
          label="Period"
          isLabelHidden
          value={period}
          options={optionsOf(PERIODS, PERIOD_LABELS)}
          onChange={(next) => onChange({ period: next })}
        />
      )}
      {tab === 'apps' && (
        <Select
          label="Order"
          isLabelHidden
          value={sort}
          options={optionsOf(SORTS, SORT_LABELS)}
          onChange={(next) => onChange({ sort: next })}
        />
      )}
      <Select
        label="Used by"
        isLabelHidden
        value={keysMin}
        options={optionsOf(KEYS_MIN, KEYS_LABELS)}
        onChange={(next) => onChange({ keys: next })}
      />
    </>
  );
}
