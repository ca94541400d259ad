import type { ReactElement } from 'react';
import type { ClipJob, ClipStatus } from '../../api/clips.ts';
import { Badge, Meter, type Tone } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';

const TONES: Readonly<Record<ClipStatus, Tone>> = {
  pending: 'dim',
  in_progress: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'dim',
  expired: 'warn',
};

export function labelOf(status: ClipStatus): string {
  return status.replace('_', ' ');
}

export function isUnderWay({ status }: ClipJob): boolean {
  return status === 'pending' || status === 'in_progress';
}

export function State({ of: { status } }: { readonly of: ClipJob }): ReactElement {
  return <Badge tone={TONES[status]}>{labelOf(status)}</Badge>;
}

/** Where the provider says how far it is. */
export function Progress({ of: job }: { readonly of: ClipJob }): ReactElement {
  const done = job.status === 'completed' ? 100 : job.progress;
  if (done === null) return <span className="text-dim">{isUnderWay(job) ? 'not said' : '–'}</span>;
  return (
    <span className="inline-flex items-center gap-2">
      <Meter used={done} limit={100} label="Progress" isProgress />
      <span className="font-mono text-xs">{done} %</span>
    </span>
  );
}

/** What is not over has no cost yet. */
export function Cost({ of: job }: { readonly of: ClipJob }): ReactElement {
  return isUnderWay(job) ? <span className="text-dim">–</span> : <Money usd={job.total_cost} />;
}

export const CLIP_COLUMNS: readonly Column<ClipJob>[] = [
  {
    id: 'model',
    title: 'Model',
    width: 180,
    grows: true,
    cell: ({ model }) => (
      <span className="font-medium">
        <Name>{model}</Name>
      </span>
    ),
  },
  { id: 'state', title: 'State', width: 105, cell: (job) => <State of={job} /> },
  { id: 'progress', title: 'Progress', width: 140, cell: (job) => <Progress of={job} /> },
  {
    id: 'provider',
    title: 'Provider',
    width: 100,
    cell: ({ provider, provider_name: name }) => <Name>{name ?? provider ?? '–'}</Name>,
  },
  {
    id: 'duration',
    title: 'Length',
    width: 65,
    align: 'right',
    cell: ({ duration }) => (duration === null ? '–' : `${duration} s`),
  },
  { id: 'cost', title: 'Cost, USD', width: 100, align: 'right', cell: (job) => <Cost of={job} /> },
  {
    id: 'key',
    title: 'Key',
    width: 110,
    cell: ({ api_key_name: name, api_key_hash: hash }) => <Name>{name ?? hash.slice(0, 8)}</Name>,
  },
  {
    id: 'error',
    title: 'Error',
    width: 180,
    cell: ({ error }) =>
      error === null ? (
        ''
      ) : (
        <span className="text-bad">
          <Name>{error}</Name>
        </span>
      ),
  },
  { id: 'begun', title: 'Begun', width: 90, cell: ({ created_at: at }) => <Ago at={at} /> },
];
