import type { ReactElement } from 'react';
import { numberOf, textOf, type AnalyticsRow } from '../../api/analytics.ts';
import type { Schemas } from '../../api/client.ts';
import { formatCount } from '../../parts/money.ts';
import { Name } from '../../parts/text.tsx';

/** The name of a value of a dimension. */
export type NameOf = (dimension: string, value: string) => string;

interface RowTableProps {
  readonly rows: readonly AnalyticsRow[];
  readonly by: readonly string[];
  readonly metric: Schemas['GetAnalyticsMetaResponse']['data']['metrics'][number];
  readonly format: (value: number) => string;
  readonly nameOf: NameOf;
  readonly onFilter: (field: string, value: string, isExcluded: boolean) => void;
}

const ROWS_MAX = 200;

/** The rows behind the chart, largest first, with their sum where one may add them. A click filters, with Alt it leaves out. */
export function RowTable({ rows, by, metric, format, nameOf, onFilter }: RowTableProps): ReactElement {
  const sorted = rows.toSorted((a, b) => numberOf(b, metric.name) - numberOf(a, metric.name));
  const sum = sorted.reduce((total, row) => total + numberOf(row, metric.name), 0);
  return (
    <div className="overflow-x-auto px-4" tabIndex={0} role="region" aria-label={`${metric.display_label}, the rows`}>
      <table className="w-full">
        <thead className="text-left text-xs text-dim">
          <tr className="h-7 border-b border-line">
            {by.map((name) => (
              <th key={name} scope="col" className="font-medium">
                {name}
              </th>
            ))}
            <th scope="col" className="text-right font-medium">
              {metric.display_label}
            </th>
            {!metric.is_rate && (
              <th scope="col" className="text-right font-medium">
                Share
              </th>
            )}
            <th scope="col" className="text-right font-medium">
              Requests
            </th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, ROWS_MAX).map((row, at) => (
            <tr key={at} className="h-7 border-b border-line hover:bg-hover">
              {by.map((name) => (
                <td key={name}>
                  <button
                    type="button"
                    title="Filter by it; with Alt, leave it out"
                    onClick={(event) => onFilter(name, textOf(row, name), event.altKey)}
                    className="h-7 hover:underline"
                  >
                    <Name>{nameOf(name, textOf(row, name))}</Name>
                  </button>
                </td>
              ))}
              <td className="text-right font-mono text-xs">
                {row[metric.name] === null ? '–' : format(numberOf(row, metric.name))}
              </td>
              {!metric.is_rate && (
                <td className="text-right font-mono text-xs text-dim">
                  {sum === 0 ? '–' : `${((numberOf(row, metric.name) / sum) * 100).toFixed(1)} %`}
                </td>
              )}
              <td className="text-right font-mono text-xs text-dim">{formatCount(numberOf(row, 'request_count'))}</td>
            </tr>
          ))}
        </tbody>
        {!metric.is_rate && (
          <tfoot>
            <tr className="h-8 font-semibold">
              {by.length > 0 && <td colSpan={by.length}>{sorted.length} rows</td>}
              <td className="text-right font-mono text-xs">{format(sum)}</td>
              <td />
              <td className="text-right font-mono text-xs">
                {formatCount(sorted.reduce((total, row) => total + numberOf(row, 'request_count'), 0))}
              </td>
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
