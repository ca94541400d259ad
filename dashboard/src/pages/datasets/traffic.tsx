import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import type { ApiError } from '../../api/errors.ts';
import { useRead } from '../../api/read.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Grid, type Column } from '../../parts/grid.tsx';
import { saveBlob } from '../../parts/save-blob.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { DAY_MS } from '../../parts/time.ts';
import { APP_COLUMNS, MODEL_COLUMNS, SESSION_COLUMNS, type RankedModel } from './columns.tsx';
import { toCsv } from './csv.ts';
import type { DatasetsSearch } from './search.ts';

/** What a tab shows, to be saved. */
interface Export {
  /** Of the file. */
  readonly name: string;
  /** The query that found the rows. */
  readonly note: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly (string | number | null)[])[];
}

interface TrafficProps {
  readonly search: DatasetsSearch;
}

const ROWS_MAX = 500;
const APPS_MAX = 100;
/** A key may look 30 times a minute: rows are read when they are wanted, and the day that they end with is over. */
const ONCE = { isOnDemand: true } as const;

/** The first day of so many that end with yesterday, UTC. */
function startOf(days: string): string {
  return new Date(Date.now() - Number(days) * DAY_MS).toISOString().slice(0, 10);
}

export function Models({ search: { days, period, keysMin } }: TrafficProps): ReactElement {
  const query = { start_date: startOf(days), period, min_group: Number(keysMin) };
  const read = useRead(
    ['dataset-rankings', query],
    (signal) => client.GET('/datasets/rankings-daily', { signal, params: { query } }),
    ONCE,
  );
  const rows = withShares(read.data?.data ?? []);
  return (
    <Traffic
      of={read}
      label="Models"
      columns={MODEL_COLUMNS}
      rows={rows}
      keyOf={({ date, model }) => `${date} ${model}`}
      found={{
        name: 'models.csv',
        note: `/datasets/rankings-daily ${JSON.stringify(query)}`,
        header: ['date', 'model', 'tokens'],
        rows: rows.map(({ date, model, tokens }) => [date, model, tokens]),
      }}
    />
  );
}

function withShares(
  rows: readonly { readonly date: string; readonly model_permaslug: string; readonly total_tokens: string }[],
): readonly RankedModel[] {
  const sums = new Map<string, number>();
  for (const { date, total_tokens: tokens } of rows) sums.set(date, (sums.get(date) ?? 0) + Number(tokens));
  return rows
    .map(({ date, model_permaslug: model, total_tokens: text }) => {
      const tokens = Number(text);
      return { date, model, tokens, ofDate: sums.get(date) ?? tokens };
    })
    .toSorted((one, other) => (one.date < other.date ? 1 : one.date > other.date ? -1 : 0));
}

export function Apps({ search: { days, sort, keysMin } }: TrafficProps): ReactElement {
  const query = { start_date: startOf(days), sort, min_group: Number(keysMin), limit: APPS_MAX };
  const read = useRead(
    ['dataset-apps', query],
    (signal) => client.GET('/datasets/app-rankings', { signal, params: { query } }),
    ONCE,
  );
  const rows = read.data?.data ?? [];
  return (
    <Traffic
      of={read}
      label="Applications"
      columns={APP_COLUMNS}
      rows={rows}
      keyOf={({ rank }) => String(rank)}
      found={{
        name: 'applications.csv',
        note: `/datasets/app-rankings ${JSON.stringify(query)}`,
        header: ['rank', 'application', 'tokens', 'requests'],
        rows: rows.map((row) => [row.rank, row.app_name, Number(row.total_tokens), row.total_requests]),
      }}
    />
  );
}

export function Sessions({ search: { keysMin } }: TrafficProps): ReactElement {
  const query = { min_group: Number(keysMin), limit: ROWS_MAX };
  const read = useRead(
    ['dataset-sessions', query],
    (signal) => client.GET('/datasets/session-cost', { signal, params: { query } }),
    ONCE,
  );
  const rows = read.data?.data ?? [];
  return (
    <Traffic
      of={read}
      label="Sessions"
      columns={SESSION_COLUMNS}
      rows={rows}
      keyOf={(row) => [row.app_slug, row.model_permaslug, row.turn_range].join(' ')}
      found={{
        name: 'sessions.csv',
        note: `/datasets/session-cost ${JSON.stringify(query)}`,
        header: ['application', 'model', 'turns', 'median_session_cost_usd', 'sessions'],
        rows: rows.map((row) => [
          row.app_slug,
          row.model_permaslug,
          row.turn_range,
          row.median_session_cost_usd,
          row.sessions,
        ]),
      }}
    />
  );
}

function Traffic<Data, Row>({
  of,
  label,
  columns,
  rows,
  keyOf,
  found,
}: {
  readonly of: UseQueryResult<Data, ApiError>;
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly found: Export;
}): ReactElement {
  return (
    <Load of={of}>
      {() =>
        rows.length === 0 ? (
          <Empty
            title="There was no traffic in these days"
            action={<LinkButton to="/ui/analytics">Analytics, with today</LinkButton>}
          >
            <p>Days are those of UTC, and the last one is yesterday. What the gateway made for itself is left out.</p>
          </Empty>
        ) : (
          <>
            <Grid label={label} columns={columns} rows={rows} keyOf={keyOf} />
            <div className="border-t border-line bg-surface px-3 py-2">
              <Button
                icon="download"
                onClick={() =>
                  saveBlob(found.name, new Blob([toCsv(found.note, found.header, found.rows)], { type: 'text/csv' }))
                }
              >
                Save as CSV
              </Button>
            </div>
          </>
        )
      }
    </Load>
  );
}
