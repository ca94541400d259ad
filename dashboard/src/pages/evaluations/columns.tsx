import type { Schemas } from '../../api/client.ts';
import { Badge, Meter, type Tone } from '../../parts/badge.tsx';
import type { Column } from '../../parts/grid.tsx';
import { formatCount, formatUsd, formatUsdShort } from '../../parts/money.ts';
import { Ago, Name } from '../../parts/text.tsx';

export type Run = Schemas['EvaluationRun'];

const TONES: Readonly<Record<Run['state'], Tone>> = {
  queued: 'dim',
  running: 'accent',
  paused: 'warn',
  done: 'good',
  failed: 'bad',
  cancelled: 'dim',
};

/** Why a run stands still, in words. */
const REASONS: Readonly<Record<string, string>> = {
  requested: 'by hand',
  cost_cap: 'its cap is reached',
  failures: '20 failures in a row',
  payer_limit: 'the limit of its key is reached',
  payer_gone: 'its key is gone',
  dataset_gone: 'its dataset is gone',
  error: 'an error',
};

export function stateOf({ state, reason }: Run): string {
  return reason === null ? state : `${state}: ${REASONS[reason] ?? reason}`;
}

export function toneOf({ state }: Run): Tone {
  return TONES[state];
}

export function isUnderWay({ state }: Run): boolean {
  return state === 'queued' || state === 'running';
}

export const RUN_COLUMNS: readonly Column<Run>[] = [
  {
    id: 'dataset',
    title: 'Dataset',
    width: 160,
    grows: true,
    cell: ({ name, dataset }) => (
      <span className="font-medium">
        <Name>{name ?? dataset}</Name>
      </span>
    ),
  },
  {
    id: 'models',
    title: 'Models',
    width: 260,
    cell: ({ models }) => <Name>{models.join(', ')}</Name>,
  },
  {
    id: 'progress',
    title: 'Answers',
    width: 170,
    cell: ({ units, units_done: done }) => (
      <span className="inline-flex items-center gap-2">
        <Meter used={done} limit={units} label="Answers so far" isProgress />
        {formatCount(done)} of {formatCount(units)}
      </span>
    ),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 150,
    cell: ({ spent_usd: spent, max_cost_usd: cap }) => (
      <span>
        {formatUsd(spent)} <span className="text-dim">of {formatUsdShort(cap)}</span>
      </span>
    ),
  },
  { id: 'state', title: 'State', width: 190, cell: (run) => <Badge tone={toneOf(run)}>{stateOf(run)}</Badge> },
  { id: 'created', title: 'Begun', width: 90, cell: ({ created_at: at }) => <Ago at={at} /> },
];
