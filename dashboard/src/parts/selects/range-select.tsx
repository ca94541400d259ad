import type { ReactElement } from 'react';
import { Segments } from '../field.tsx';
import { RANGES, type Range } from '../time.ts';

/** The time range of a page, in its address. Days and hours are UTC, as budgets and limits count. */
export function RangeSelect({
  value,
  onChange,
}: {
  readonly value: Range;
  readonly onChange: (range: Range) => void;
}): ReactElement {
  return (
    <span className="inline-flex items-center gap-1.5">
      <Segments
        label="Time range"
        value={value}
        options={RANGES.map((range) => ({ value: range, label: range.replace(/(\d)(\D)/, '$1 $2') }))}
        onChange={onChange}
      />
      <span className="text-xs text-dim">UTC</span>
    </span>
  );
}
