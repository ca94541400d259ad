import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { asApiError } from '../../api/errors.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { readKept } from '../../api/responses.ts';
import { useConsole } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Select } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { isUnderWay, RESPONSE_COLUMNS } from './columns.tsx';
import { ResponsePanel } from './panel.tsx';
import { parseResponsesSearch } from './search.ts';

const EVERY_MS = 3_000;
const SLOW_MS = 15_000;

/** What is kept so that later requests continue it: by workspace, and content for the keys that may read it alone. */
export function Page(): ReactElement {
  const [{ workspace: named, peek }, change] = useSearchState(parseResponsesSearch);
  const { sight } = useConsole();
  const hasWorkspaces = sight !== 'key';
  const workspaces = useWorkspaces(hasWorkspaces);
  const workspace = !hasWorkspaces ? '' : named === '' ? (workspaces.data?.[0]?.id ?? '') : named;
  const list = useInfiniteQuery({
    queryKey: ['kept-responses', workspace],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readKept(workspace, pageParam, signal),
    getNextPageParam: ({ next }) => next,
    enabled: !hasWorkspaces || workspace !== '',
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ rows: some }) => some.some(isUnderWay)) === true ? EVERY_MS : SLOW_MS,
  });
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const peeked = rows.find(({ id }) => id === peek);
  const failed = workspaces.isError ? workspaces : list;
  return (
    <Frame
      title="Responses"
      isFilled
      lead={list.data === undefined ? undefined : `${formatCount(rows.length)}${list.hasNextPage ? '+' : ''}`}
      bar={
        <>
          {hasWorkspaces && (
            <Select
              label="Workspace"
              isLabelHidden
              value={workspace}
              options={(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(next) => change({ workspace: next, peek: undefined })}
            />
          )}
          <span className="text-dim">{NOTES[sight]}</span>
        </>
      }
    >
      {failed.isError ? (
        <Failure error={asApiError(failed.error)} onRetry={() => void failed.refetch()} />
      ) : (
        list.data === undefined && <Skeleton />
      )}
      {list.data !== undefined && rows.length > 0 && (
        <div className="flex min-h-0 flex-1">
          <Grid
            label="Responses"
            columns={RESPONSE_COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            chosen={peek}
            onPeek={({ id }) => change({ peek: id }, false)}
            foot={
              list.hasNextPage ? (
                <div className="p-3">
                  <Button onClick={() => void list.fetchNextPage()}>Load older</Button>
                </div>
              ) : undefined
            }
          />
          {peeked !== undefined && (
            <ResponsePanel
              key={peeked.id}
              row={peeked}
              workspace={workspace}
              onClose={() => change({ peek: undefined }, false)}
            />
          )}
        </div>
      )}
      {list.data !== undefined && rows.length === 0 && <NothingKept />}
    </Frame>
  );
}

/** Of each kind of session, what the list leaves out. */
const NOTES = {
  operator: 'All of the workspace. What a response says is for the key that sent its request.',
  admin: 'All of workspaces that you administer, else what your keys made. What a response says is for its key.',
  user: 'What your keys made. What a response says is for the key that sent its request.',
  key: 'What this key may read.',
} as const;

function NothingKept(): ReactElement {
  return (
    <Empty title="No response is kept">
      <p>
        Responses of POST /responses are kept so that later requests continue them: in memory, or in the database with
        responses.store: database.
      </p>
      <CodeBlock
        label="A request whose response is kept"
        text={`curl ${location.origin}/v1/responses -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -d '{"model": "sandbox/echo", "input": "My name is Ann."}'`}
      />
    </Empty>
  );
}
