import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCompact } from './money.ts';
import { useIsDark } from './preferences/theme.ts';
import { DAY_MS, formatMinute, toDigits } from './time.ts';
import { nameOfZone, readZone, type Zone } from './preferences/zone.ts';

/** One line or one kind of bars over time. A gap is null. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** A token of the colours; default: one of the row below. */
  readonly color?: string;
}

interface TimeChartProps {
  /** What it shows: "Spend, last 24 h". */
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format?: (value: number) => string;
  readonly kind?: 'line' | 'bars';
  readonly height?: number;
  /** Enter, or a click: the requests of that bucket. */
  readonly onOpen?: (at: number) => void;
}

/** People who do not see all colours can tell these apart, on both themes; beyond them lines repeat with dashes. */
const COLORS = [
  '--chart-1',
  '--chart-2',
  '--chart-3',
  '--chart-4',
  '--chart-5',
  '--chart-6',
  '--chart-7',
  '--chart-8',
] as const;

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] ?? COLORS[0];
}

/**
 * Time series on a canvas, which no screen reader can read: so it has a sentence, a cursor that arrow keys move and a live region reads,
 * and the same figures as a table.
 */
export function TimeChart(props: TimeChartProps): ReactElement {
  const { title, times, series, format = formatCompact, height = 150, onOpen } = props;
  const [isTable, setIsTable] = useState(false);
  const [cursor, setCursor] = useState<number>();
  const holder = useRef<HTMLDivElement>(null);
  const plot = usePlot(holder, props, height);
  const sentence = describe(title, times, series, format);
  const noteId = useId();
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = cursor ?? times.length;
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: times.length - 1 }[event.key];
    if (event.key === 'Enter' && cursor !== undefined) onOpen?.(times[cursor] ?? 0);
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(times.length - 1, to));
    setCursor(next);
    const chart = plot.current;
    chart?.setCursor({ left: chart.valToPos((times[next] ?? 0) / 1_000, 'x'), top: height / 2 });
  };
  return (
    <figure className="relative min-w-0">
      <div className="flex items-center justify-between gap-2">
        <Legend series={series} />
        <button
          type="button"
          aria-pressed={isTable}
          onClick={() => setIsTable(!isTable)}
          className="h-7 rounded px-1.5 text-xs whitespace-nowrap text-dim hover:bg-hover hover:text-text"
        >
          {isTable ? 'as chart' : 'as table'}
        </button>
      </div>
      {isTable && <FigureTable title={title} times={times} series={series} format={format} />}
      <div
        hidden={isTable}
        role="img"
        aria-label={sentence}
        aria-describedby={noteId}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className="rounded"
      >
        <div ref={holder} />
      </div>
      <p id={noteId} className="sr-only" aria-live="polite">
        {cursor === undefined ? 'Arrow keys move a cursor.' : describeAt(cursor, times, series, format)}
      </p>
    </figure>
  );
}

function usePlot(
  holder: React.RefObject<HTMLDivElement | null>,
  { times, series, kind = 'line', format = formatCompact, onOpen }: TimeChartProps,
  height: number,
): React.RefObject<UPlot | undefined> {
  const plot = useRef<UPlot>(undefined);
  const open = useRef(onOpen);
  const isDark = useIsDark();
  useEffect(() => {
    open.current = onOpen;
  });
  useEffect(() => {
    const place = holder.current;
    if (place === null || times.length === 0) return undefined;
    const data: UPlot.AlignedData = [times.map((time) => time / 1_000), ...series.map(({ values }) => [...values])];
    const chart = new UPlot(toOptions(place, { series, kind, format, height, zone: zoneOf(times) }), data, place);
    plot.current = chart;
    chart.over.addEventListener('click', () => {
      const at = chart.cursor.idx;
      if (at !== null && at !== undefined) open.current?.(times[at] ?? 0);
    });
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0) chart.setSize({ width, height });
    });
    observer.observe(place);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
    // The theme changes what the tokens mean, and a canvas does not follow by itself.
  }, [holder, times, series, kind, format, height, isDark]);
  return plot;
}

function toOptions(
  place: HTMLElement,
  {
    series,
    kind,
    format,
    height,
    zone,
  }: {
    readonly series: readonly Series[];
    readonly kind: 'line' | 'bars';
    readonly format: (value: number) => string;
    readonly height: number;
    readonly zone: Zone;
  },
): UPlot.Options {
  const color = (token: string): string => resolveColor(place, token);
  const axis = {
    stroke: color('--color-dim'),
    font: '11px system-ui, sans-serif',
    ticks: { show: false },
    grid: { stroke: color('--color-line'), width: 1 },
  };
  const bars = UPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  return {
    width: Math.max(100, Math.floor(place.clientWidth)),
    height,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    cursor: { y: false, points: { size: 6 } },
    tzDate: (seconds) => {
      const date = new Date(seconds * 1_000);
      return zone === 'utc' ? UPlot.tzDate(date, 'Etc/UTC') : date;
    },
    scales: { y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, size: 26, grid: { show: false }, values: (_chart, splits) => formatSplits(splits, zone) },
      { ...axis, size: 56, values: (_chart, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...series.map(({ name, color: token }, index) => {
        const stroke = color(token ?? colorOf(index));
        return {
          label: name,
          stroke,
          width: kind === 'bars' ? 0 : 1.75,
          ...(kind === 'bars'
            ? { fill: stroke, ...(bars !== undefined && { paths: bars }) }
            : series.length === 1 && { fill: `color-mix(in srgb, ${stroke} 14%, transparent)` }),
          points: { show: false },
        };
      }),
    ],
  };
}

const SPLITS_DAY = 86_400;

/** `14:00`, and the day where one begins: `11-27`. */
function formatSplits(splits: readonly number[], zone: Zone): string[] {
  const stepSeconds = (splits[1] ?? 0) - (splits[0] ?? 0);
  return splits.map((seconds) => {
    const digits = toDigits(new Date(seconds * 1_000), zone);
    const time = digits.slice(11, 16);
    return stepSeconds >= SPLITS_DAY || time === '00:00' ? digits.slice(5, 10) : time;
  });
}

/** What a token is right now: `light-dark()` is settled by the browser. */
function resolveColor(place: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function Legend({ series }: { readonly series: readonly Series[] }): ReactElement {
  return (
    <ul className="flex min-w-0 flex-wrap gap-x-3 text-xs text-dim">
      {series.map(({ name, color }, index) => (
        <li key={name} className="flex min-w-0 items-center gap-1.5">
          <span
            aria-hidden="true"
            className="size-2 shrink-0 rounded-sm"
            style={{ background: `var(${color ?? colorOf(index)})` }}
          />
          <span className="truncate">{name}</span>
        </li>
      ))}
    </ul>
  );
}

function FigureTable({
  title,
  times,
  series,
  format,
}: {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}): ReactElement {
  return (
    <div tabIndex={0} role="region" aria-label={`${title}, as a table`} className="max-h-60 overflow-auto">
      <table className="w-full text-xs">
        <thead className="sticky top-0 bg-surface text-dim">
          <tr>
            <th scope="col" className="text-left font-medium">
              Time, {nameOfZone(zoneOf(times))}
            </th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="text-right font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time} className="border-t border-line">
              <th scope="row" className="text-left font-mono font-normal">
                {formatMinute(new Date(time), zoneOf(times))}
              </th>
              {series.map(({ name, values }) => (
                <td key={name} className="text-right font-mono">
                  {values[at] === null || values[at] === undefined ? '–' : format(values[at])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Sums of whole days are those of UTC. */
function zoneOf(times: readonly number[]): Zone {
  return times.length > 0 && times.every((time) => time % DAY_MS === 0) ? 'utc' : readZone();
}

/** "Spend, last 24 h: USD 3.10 in all, highest at 2026-11-27 14:00." */
function describe(
  title: string,
  times: readonly number[],
  series: readonly Series[],
  format: (value: number) => string,
): string {
  const parts = series.map(({ name, values }) => {
    const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0);
    const highest = values.reduce<number>((best, value, at) => ((value ?? 0) > (values[best] ?? 0) ? at : best), 0);
    const when = times[highest];
    return sum === 0 || when === undefined
      ? `${name} none`
      : `${name} ${format(sum)} in all, highest at ${formatMinute(new Date(when), zoneOf(times))}`;
  });
  return `${title}: ${parts.join('; ')}.`;
}

function describeAt(
  at: number,
  times: readonly number[],
  series: readonly Series[],
  format: (value: number) => string,
): string {
  const time = times[at];
  const values = series.map(
    ({ name, values: list }) => `${name} ${list[at] === null || list[at] === undefined ? 'none' : format(list[at])}`,
  );
  return `${time === undefined ? '' : formatMinute(new Date(time), zoneOf(times))}: ${values.join(', ')}`;
}
