import type { ReactElement } from 'react';
import { Segments } from '../field.tsx';
import { RANGES, type Range } from '../time.ts';
import { nameOfZone, setZone, useZone } from '../preferences/zone.ts';

/** The time range of a page, in its address. Days of sums are those of UTC, as budgets and limits count. */
export function RangeSelect({
  value,
  onChange,
}: {
  readonly value: Range;
  readonly onChange: (range: Range) => void;
}): ReactElement {
  const zone = useZone();
  return (
    <span className="inline-flex items-center gap-1.5">
      <Segments
        label="Time range"
        value={value}
        options={RANGES.map((range) => ({ value: range, label: range.replace(/(\d)(\D)/, '$1 $2') }))}
        onChange={onChange}
      />
      <button
        type="button"
        title="Show times in UTC, or in the zone of this browser. Days of sums stay those of UTC."
        onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
        className="h-7 rounded px-1 text-xs text-dim hover:bg-hover hover:text-text"
      >
        {nameOfZone(zone)}
      </button>
    </span>
  );
}
