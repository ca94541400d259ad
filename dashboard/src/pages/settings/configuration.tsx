import { type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Checkbox } from '../../parts/field.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Grid, type Column } from '../../parts/grid.tsx';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import type { ChangeSearch } from '../../parts/search.ts';
import { Load } from '../../parts/states.tsx';
import type { SettingsSearch } from './search.ts';
import { toYaml } from './yaml.ts';

interface Value {
  readonly path: string;
  readonly value?: unknown;
  readonly origin: string | null;
  readonly meaning: string | null;
}

/** Every value in effect with its place, read only: the file is reviewed and versioned, and a page is not. */
export function Configuration({
  search: { filter, isChangedOnly },
  change,
}: {
  readonly search: SettingsSearch;
  readonly change: ChangeSearch;
}): ReactElement {
  const config = useRead(['config'], (signal) => client.GET('/config', { signal }));
  const setFilter = (q: string): void => change({ q }, false);
  return (
    <Load of={config}>
      {({ data: { file, needs_restart: needsRestart, values } }) => {
        const found = values.filter(
          ({ path, value, origin, meaning }) =>
            (!isChangedOnly || origin !== null) && matches(filter, path, JSON.stringify(value), origin, meaning),
        );
        return (
          <div className="flex h-full min-h-0 flex-col">
            <div className="flex flex-wrap items-center gap-3 border-b border-line bg-surface px-4 py-1.5">
              <FilterBox value={filter} onChange={setFilter} placeholder="timeouts" label="Filter the configuration" />
              <Checkbox
                label="Only what differs from its default"
                checked={isChangedOnly}
                onChange={(event) => change({ changed: event.target.checked ? 'true' : undefined }, false)}
              />
              <span className="min-w-0 flex-1 truncate text-dim">
                {file === null ? 'No file: everything has its default.' : file}
              </span>
              <CopyButton label="Copy as YAML" text={toYaml(found)} />
            </div>
            {needsRestart.length > 0 && (
              <p role="note" className="bg-warn-soft px-4 py-1 text-warn">
                Changed on disk, and in effect after a restart: {needsRestart.join(', ')}.
              </p>
            )}
            {found.length === 0 ? (
              <NothingMatches
                what="value"
                filters={[{ name: 'Show all', onDrop: () => change({ q: undefined, changed: undefined }, false) }]}
              />
            ) : (
              <Grid label="Configuration" columns={COLUMNS} rows={found} keyOf={({ path }) => path} />
            )}
          </div>
        );
      }}
    </Load>
  );
}

const mono = (text: string): ReactElement => <span className="font-mono text-xs">{text}</span>;

const COLUMNS: readonly Column<Value>[] = [
  { id: 'path', title: 'Key', width: 260, grows: true, cell: ({ path }) => mono(path) },
  { id: 'value', title: 'Value', width: 200, grows: true, cell: ({ value }) => mono(JSON.stringify(value)) },
  {
    id: 'origin',
    title: 'From',
    width: 220,
    cell: ({ origin }) => (origin === null ? <span className="text-dim">default</span> : <Badge>{origin}</Badge>),
  },
  {
    id: 'meaning',
    title: 'Meaning',
    width: 380,
    grows: true,
    cell: ({ meaning }) => (
      <span className="text-dim" title={meaning ?? undefined}>
        {meaning ?? '–'}
      </span>
    ),
  },
];
