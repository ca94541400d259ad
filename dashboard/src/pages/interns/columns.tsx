import type { Schemas } from '../../api/client.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { Ago, Money, Name } from '../../parts/text.tsx';

/** `hostname` and vaults are always null, which the typed client leaves out. */
export type Intern = Omit<Schemas['Intern'], 'hostname' | 'vault_id' | 'attached_vault_id'>;
export type Run = Schemas['InternRun'];
export type Step = Schemas['InternStep'];
export type Input = Schemas['InternInput'];

const STATUS_TONES: Readonly<Record<Intern['status'], Tone>> = {
  queued: 'dim',
  provisioning: 'warn',
  running: 'good',
  failed: 'bad',
  stopped: 'dim',
  destroying: 'warn',
  destroy_failed: 'bad',
};
export const RUN_TONES: Readonly<Record<Run['state'], Tone>> = {
  queued: 'dim',
  running: 'accent',
  waiting_input: 'warn',
  paused: 'dim',
  done: 'good',
  failed: 'bad',
  cancelled: 'dim',
  expired: 'bad',
};
export const STEP_TONES: Readonly<Record<Step['state'], Tone>> = {
  planned: 'dim',
  started: 'accent',
  done: 'good',
  unknown: 'warn',
};

export function formatState(state: string): string {
  return state.replaceAll('_', ' ');
}

export const INTERN_COLUMNS: readonly Column<Intern>[] = [
  {
    id: 'name',
    title: 'Intern',
    width: 180,
    grows: true,
    cell: ({ name }) => (
      <span className="font-medium">
        <Name>{name}</Name>
      </span>
    ),
  },
  {
    id: 'status',
    title: 'Status',
    width: 110,
    cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{formatState(status)}</Badge>,
  },
  { id: 'model', title: 'Model', width: 200, cell: ({ model }) => <Name>{model ?? 'the default'}</Name> },
  {
    id: 'tools',
    title: 'Tools',
    width: 240,
    cell: ({ tools }) => (
      <span className="text-dim">
        <Name>{tools.map(({ type }) => type.replace('service:', '')).join(', ')}</Name>
      </span>
    ),
  },
  {
    id: 'budget',
    title: 'Budget',
    width: 150,
    cell: ({ budget }) => (
      <>
        <Money usd={budget.limit_usd} places={2} /> <span className="text-dim">{budget.interval}</span>
      </>
    ),
  },
  { id: 'changed', title: 'Changed', width: 110, cell: ({ updatedAt }) => <Ago at={updatedAt} /> },
];
