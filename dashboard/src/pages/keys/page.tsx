import { useNavigate } from '@tanstack/react-router';
import { type ReactElement } from 'react';
import { useKeys, useWorkspaces, type ApiKey } from '../../api/lists.ts';
import { Button } from '../../parts/button.tsx';
import { Segments, Select } from '../../parts/field.tsx';
import { FilterBox, matches } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { keyColumns, isNearLimit } from './columns.tsx';
import { CreateKey } from './create-key.tsx';
import { parseKeysSearch, type KeysSearch } from './search.ts';

const STATES = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'near', label: 'Near limit' },
  { value: 'disabled', label: 'Disabled' },
] as const;

/** Keys, and what each may spend. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseKeysSearch);
  const keys = useKeys();
  const workspaces = useWorkspaces();
  const navigate = useNavigate();
  useHotkeys({ n: () => change({ new: 'true' }) });
  const found = keys.data?.filter((key) => passes(key, search)) ?? [];
  return (
    <Frame
      title="Keys"
      isFilled
      lead={keys.data === undefined ? undefined : `${formatCount(found.length)} of ${formatCount(keys.data.length)}`}
      actions={
        <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
          New key
        </Button>
      }
      bar={<Bar search={search} change={change} />}
    >
      <Load of={keys}>
        {(all) =>
          found.length > 0 ? (
            <Grid
              label="Keys"
              columns={keyColumns(workspaces.data)}
              rows={found}
              keyOf={({ hash }) => hash}
              onOpen={({ hash }) => void navigate({ to: `/ui/keys/${hash}` })}
            />
          ) : all.length > 0 ? (
            <NothingMatches
              what="key"
              filters={[
                {
                  name: 'Drop the filters',
                  onDrop: () => change({ q: undefined, state: undefined, workspace: undefined }),
                },
              ]}
            />
          ) : (
            <Empty
              title="No key yet"
              action={
                <Button look="primary" icon="plus" onClick={() => change({ new: 'true' })}>
                  New key
                </Button>
              }
            >
              <p>A key lets a program or a person use models, within a limit of its own.</p>
            </Empty>
          )
        }
      </Load>
      <CreateKey isOpen={search.isNew} onClose={() => change({ new: undefined }, false)} />
    </Frame>
  );
}

function Bar({ search, change }: { readonly search: KeysSearch; readonly change: ChangeSearch }): ReactElement {
  const workspaces = useWorkspaces();
  const setFilter = (q: string): void => change({ q }, false);
  return (
    <>
      <FilterBox value={search.filter} onChange={setFilter} placeholder="Name or label" label="Filter keys" />
      <Segments
        label="State"
        value={search.state}
        options={STATES}
        onChange={(state) => change({ state: state === 'all' ? undefined : state })}
      />
      <Select
        label="Workspace"
        isLabelHidden
        value={search.workspace}
        options={[
          { value: '', label: 'all workspaces' },
          ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onChange={(workspace) => change({ workspace })}
      />
    </>
  );
}

function passes(key: ApiKey, { filter, state, workspace }: KeysSearch): boolean {
  const isInState =
    state === 'all' || (state === 'disabled' ? key.disabled : state === 'near' ? isNearLimit(key) : !key.disabled);
  return isInState && (workspace === '' || key.workspace_id === workspace) && matches(filter, key.name, key.label);
}
