import type { ReactElement, ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';
import { formatMoment } from '../../parts/time.ts';

export type Job = Schemas['Job'];

const TONES = {
  queued: 'dim',
  running: 'good',
  waiting: 'warn',
  done: 'dim',
  failed: 'bad',
  cancelled: 'dim',
} as const satisfies Readonly<Record<Job['state'], string>>;

function State({ job: { state, is_stopping: isStopping } }: { readonly job: Job }): ReactElement {
  return <Badge tone={TONES[state]}>{isStopping ? 'stopping' : state}</Badge>;
}

export const JOB_COLUMNS: readonly Column<Job>[] = [
  { id: 'state', title: 'State', width: 100, cell: (job) => <State job={job} /> },
  { id: 'kind', title: 'Kind', width: 140, cell: ({ kind }) => <span className="font-medium">{kind}</span> },
  {
    id: 'subject',
    title: 'About',
    width: 280,
    cell: ({ subject_id: subject }) => (
      <span className="font-mono text-xs">
        <Name>{subject}</Name>
      </span>
    ),
  },
  { id: 'attempts', title: 'Attempts', width: 80, align: 'right', cell: ({ attempts }) => formatCount(attempts) },
  { id: 'made', title: 'Made', width: 100, cell: ({ created_at: at }) => <Ago at={at} /> },
  { id: 'changed', title: 'Changed', width: 100, cell: ({ updated_at: at }) => <Ago at={at} /> },
  {
    id: 'error',
    title: 'Error of the last run',
    width: 260,
    grows: true,
    cell: ({ error }) => (error === null ? <span className="text-dim">–</span> : <Name>{error}</Name>),
  },
];

/** One job, for its panel. */
export function factsOf(job: Job): readonly (readonly [string, ReactNode])[] {
  const moment = (at: string | null): string => (at === null ? '–' : formatMoment(new Date(at)));
  return [
    ['State', <State key="state" job={job} />],
    ['Kind', job.kind],
    ['About', <Name key="subject">{job.subject_id}</Name>],
    ['Id', <Name key="id">{job.id}</Name>],
    ['Attempts', formatCount(job.attempts)],
    ['Made', moment(job.created_at)],
    ['Changed', moment(job.updated_at)],
    ['Runs', job.runs_at === null ? '–' : `not before ${moment(job.runs_at)}`],
    ['Over', moment(job.finished_at)],
    ['Forgotten', moment(job.expires_at)],
  ];
}
