import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { readClipJobs } from '../../api/clips.ts';
import { asApiError } from '../../api/errors.ts';
import { useWorkspaces } from '../../api/lists.ts';
import { useConsole } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Select } from '../../parts/field.tsx';
import { FilterBox } from '../../parts/filter-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { Empty, Failure, Skeleton } from '../../parts/states.tsx';
import { CLIP_COLUMNS, isUnderWay, labelOf } from './columns.tsx';
import { ClipPanel } from './panel.tsx';
import { parseClipsSearch, STATUSES, type ClipsSearch } from './search.ts';

const EVERY_MS = 3_000;
const SLOW_MS = 15_000;

/** Jobs that make clips: of an operator all, of a workspace's admin those of the workspace, of all others their own. */
export function Page(): ReactElement {
  const [{ filters, peek }, change] = useSearchState(parseClipsSearch);
  const list = useInfiniteQuery({
    queryKey: ['clips', filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readClipJobs(filters, pageParam, signal),
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ jobs: some }) => some.some(isUnderWay)) === true ? EVERY_MS : SLOW_MS,
  });
  const jobs = list.data?.pages.flatMap((page) => page.jobs) ?? [];
  const peeked = jobs.find(({ id }) => id === peek);
  const names = Object.keys(filters);
  return (
    <Frame
      title="Clips"
      isFilled
      lead={list.data === undefined ? undefined : `${formatCount(jobs.length)}${list.hasNextPage ? '+' : ''}`}
      bar={<Bar filters={filters} change={change} />}
    >
      {list.isPending && <Skeleton />}
      {list.isError && <Failure error={asApiError(list.error)} onRetry={() => void list.refetch()} />}
      {list.data !== undefined && jobs.length > 0 && (
        <div className="flex min-h-0 flex-1">
          <Grid
            label="Clips"
            columns={CLIP_COLUMNS}
            rows={jobs}
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
            <ClipPanel key={peeked.id} job={peeked} onClose={() => change({ peek: undefined }, false)} />
          )}
        </div>
      )}
      {list.data !== undefined && jobs.length === 0 && names.length > 0 && (
        <NothingMatches
          what="job"
          filters={names.map((name) => ({ name, onDrop: () => change({ [name]: undefined }) }))}
        />
      )}
      {list.data !== undefined && jobs.length === 0 && names.length === 0 && <NoClips />}
    </Frame>
  );
}

function Bar({
  filters,
  change,
}: {
  readonly filters: ClipsSearch['filters'];
  readonly change: ChangeSearch;
}): ReactElement {
  const { isOperator } = useConsole();
  const workspaces = useWorkspaces(isOperator);
  const setModel = (model: string): void => change({ model, peek: undefined }, false);
  return (
    <>
      <FilterBox
        value={filters.model ?? ''}
        onChange={setModel}
        placeholder="sandbox/video"
        label="Only this model, by its whole name"
      />
      <Select
        label="State"
        isLabelHidden
        value={filters.status ?? ''}
        options={[
          { value: '', label: 'every state' },
          ...STATUSES.map((status) => ({ value: status, label: labelOf(status) })),
        ]}
        onChange={(status) => change({ status, peek: undefined })}
      />
      {isOperator && (
        <Select
          label="Workspace"
          isLabelHidden
          value={filters.workspace ?? ''}
          options={[
            { value: '', label: 'every workspace' },
            ...(workspaces.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(workspace) => change({ workspace, peek: undefined })}
        />
      )}
    </>
  );
}

function NoClips(): ReactElement {
  return (
    <Empty title="No clip was made">
      <p>
        A job makes a clip. It is listed here from its request to the end of its retention; the sandbox needs no key.
      </p>
      <CodeBlock
        label="A request for a clip"
        text={`curl ${location.origin}/v1/videos -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -d '{"model": "sandbox/video", "prompt": "a cat on a bicycle", "duration": 4}'`}
      />
    </Empty>
  );
}
