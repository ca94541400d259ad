import { useId, type ReactElement } from 'react';
import { Checkbox, Segments } from '../../parts/field.tsx';
import type { ChangeSearch } from '../../parts/search.ts';
import { SORTS, type RoutingSearch } from './search.ts';

/** Preferences that the gateway has, each a parameter of the address. */
export function Preferences({
  search,
  change,
}: {
  readonly search: RoutingSearch;
  readonly change: ChangeSearch;
}): ReactElement {
  // A slider passes many values: back leads to the last choice, and not through each of them.
  const set = (patch: Readonly<Record<string, string | undefined>>): void => change(patch, false);
  const flag = (name: string, isOn: boolean): void => change({ [name]: isOn ? 'true' : undefined });
  return (
    <>
      <Segments
        label="Ordered by"
        value={search.sort}
        options={SORTS.map((value) => ({ value, label: value === '' ? 'balanced' : value }))}
        onChange={(sort) => change({ sort })}
      />
      <Slider
        label="Max price, USD per million"
        name="max_price"
        value={search.maxPrice}
        max={20}
        step={0.1}
        onChange={set}
      />
      <Slider
        label="Preferred first token, seconds"
        name="max_ttft"
        value={search.maxLatency}
        max={10}
        step={0.1}
        onChange={set}
      />
      <Slider
        label="Preferred tokens a second"
        name="min_tps"
        value={search.minThroughput}
        max={200}
        step={5}
        onChange={set}
      />
      <fieldset className="flex flex-col">
        <legend className="pb-1 text-xs font-medium text-dim">The provider must give</legend>
        <Checkbox
          label="zero data retention"
          checked={search.isZdr}
          onChange={(event) => flag('zdr', event.target.checked)}
        />
        <Checkbox
          label="no training on it"
          checked={search.isTrainingDenied}
          onChange={(event) => flag('deny', event.target.checked)}
        />
      </fieldset>
    </>
  );
}

/** A preference with a range, and off at its left end. */
function Slider({
  label,
  name,
  value,
  max,
  step,
  onChange,
}: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly max: number;
  readonly step: number;
  readonly onChange: (patch: Readonly<Record<string, string | undefined>>) => void;
}): ReactElement {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="flex justify-between text-xs font-medium text-dim">
        {label} <span className="font-mono">{value === '' ? 'off' : value}</span>
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={max}
        step={step}
        value={value === '' ? 0 : Number(value)}
        onChange={(event) => onChange({ [name]: event.target.value === '0' ? undefined : event.target.value })}
        className="h-7 w-full accent-accent-solid"
      />
    </div>
  );
}
