import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useRead } from '../../api/read.ts';
import { Select } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { CONTAINER_COLUMNS } from './columns.tsx';
import { ContainerPanel } from './panel.tsx';
import { parseContainersSearch } from './search.ts';

const CONTAINERS = 1_000;
const EVERY_MS = 10_000;

/** What commands of models have left, by workspace. */
export function Page(): ReactElement {
  const [{ workspace: named, peek }, change] = useSearchState(parseContainersSearch);
  const workspaces = useWorkspaces();
  const workspace = named === '' ? (workspaces.data?.[0]?.id ?? '') : named;
  const list = useRead(
    ['containers', workspace],
    (signal) =>
      client.GET('/containers', { signal, params: { query: { workspace_id: workspace, limit: CONTAINERS } } }),
    { enabled: workspace !== '', everyMs: EVERY_MS },
  );
  const rows = list.data?.data ?? [];
  const peeked = rows.find(({ id }) => id === peek);
  return (
    <Frame
      title="Containers"
      isFilled
      lead={list.data === undefined ? undefined : `${formatCount(rows.length)}${list.data.has_more ? '+' : ''}`}
      bar={
        <Select
          label="Workspace"
          isLabelHidden
          value={workspace}
          options={(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(next) => change({ workspace: next, peek: undefined })}
        />
      }
    >
      {list.isPending &&
        (workspaces.isError ? (
          <Failure error={workspaces.error} onRetry={() => void workspaces.refetch()} />
        ) : (
          <Skeleton />
        ))}
      {list.isError && list.error.status === 404 && (
        <Empty title="Containers are off">
          <p>
            Commands of models run in containers, apart from this machine, where containers.runtime is set in the
            configuration: docs/containers.md.
          </p>
        </Empty>
      )}
      {list.isError && list.error.status !== 404 && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.data !== undefined && rows.length === 0 && (
        <Empty title="There is no container in this workspace">
          <p>The first command of service:bash or service:shell makes one, and so does POST /containers.</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <div className="flex min-h-0 flex-1">
          <Grid
            label="Containers"
            columns={CONTAINER_COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            chosen={peek}
            onPeek={({ id }) => change({ peek: id }, false)}
          />
          {peeked !== undefined && (
            <ContainerPanel
              key={`${workspace} ${peeked.id}`}
              workspace={workspace}
              container={peeked}
              onClose={() => change({ peek: undefined }, false)}
            />
          )}
        </div>
      )}
    </Frame>
  );
}
