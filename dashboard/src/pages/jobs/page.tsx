import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { usePages, useRead } from '../../api/read.ts';
import { Segments, Select } from '../../parts/field.tsx';
import { FilterBox } from '../../parts/filter-box.tsx';
import { formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Facts, Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { PeekedList } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { factsOf, JOB_COLUMNS, type Job } from './columns.tsx';
import { JOB_STATES, parseJobsSearch, type JobState } from './search.ts';

const EVERY_MS = 10_000;

/** Work that outlives requests: what runs, what waits, and what failed for which reason. */
export function Page(): ReactElement {
  const [{ kind, state, subject, peek }, change] = useSearchState(parseJobsSearch);
  const filters = {
    ...(kind !== '' && { kind }),
    ...(state !== '' && { state }),
    ...(subject !== '' && { subject_id: subject }),
  };
  const counts = useRead(['job-counts'], (signal) => client.GET('/jobs/count', { signal }), { everyMs: EVERY_MS });
  const jobs = usePages(['jobs', filters], (window, signal) =>
    client.GET('/jobs', { signal, params: { query: { ...filters, ...window } } }),
  );
  const counted = counts.data?.data ?? [];
  const kinds = [...new Set([...counted.map((one) => one.kind), ...(kind === '' ? [] : [kind])])];
  const countOf = (wanted: JobState | ''): number =>
    counted
      .filter((one) => (wanted === '' || one.state === wanted) && (kind === '' || one.kind === kind))
      .reduce((sum, one) => sum + one.count, 0);
  const setSubject = (value: string): void => change({ subject: value }, false);
  return (
    <Frame
      title="Jobs"
      isFilled
      lead={jobs.data === undefined ? undefined : formatCount(jobs.data.total)}
      bar={
        <>
          <Segments
            label="State"
            value={state}
            options={(['', ...JOB_STATES] as const).map((value) => ({
              value,
              label: `${value === '' ? 'all' : value} ${formatCount(countOf(value))}`,
            }))}
            onChange={(next) => change({ state: next, peek: undefined })}
          />
          <Select
            label="Kind"
            isLabelHidden
            value={kind}
            options={[{ value: '', label: 'every kind' }, ...kinds.map((value) => ({ value, label: value }))]}
            onChange={(next) => change({ kind: next, peek: undefined })}
          />
          <FilterBox value={subject} onChange={setSubject} placeholder="About: an id" label="Filter by subject" />
        </>
      }
    >
      <Load of={jobs}>
        {({ items, total }) =>
          items.length > 0 ? (
            <Jobs
              jobs={items}
              total={total}
              peek={peek}
              onPeek={(id) => change({ peek: id }, false)}
              onMore={jobs.hasNextPage ? () => void jobs.fetchNextPage() : undefined}
            />
          ) : Object.keys(filters).length > 0 ? (
            <NothingMatches
              what="job"
              filters={[
                {
                  name: 'Drop the filters',
                  onDrop: () => change({ kind: undefined, state: undefined, subject: undefined }),
                },
              ]}
            />
          ) : (
            <Empty title="There is no job">
              <p>Notifications, classifiers, evaluations and interns work by jobs, which go on after a restart.</p>
            </Empty>
          )
        }
      </Load>
    </Frame>
  );
}

function Jobs({
  jobs,
  total,
  peek,
  onPeek,
  onMore,
}: {
  readonly jobs: readonly Job[];
  readonly total: number;
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
  readonly onMore: (() => void) | undefined;
}): ReactElement {
  return (
    <PeekedList
      label="Jobs"
      columns={JOB_COLUMNS}
      rows={jobs}
      total={total}
      peek={peek}
      onPeek={onPeek}
      onMore={onMore}
      nameOf={({ kind }) => kind}
    >
      {(job) => (
        <>
          <Section title="Job">
            <Facts of={factsOf(job)} />
          </Section>
          {job.error !== null && (
            <Section title="Error of the last run">
              <p className="break-words whitespace-pre-wrap text-bad">
                <Name>{job.error}</Name>
              </p>
            </Section>
          )}
        </>
      )}
    </PeekedList>
  );
}
