import type { Setting } from './measure.ts';
import { BODY_LABELS } from './requests.ts';
import { PAIR_IDS, type VariantId } from './variants.ts';

/** How long and how often: the sums stay under twelve minutes without hostile load and under sixteen with it, with `--quick` under one and three. */
export interface Plan {
  readonly cellMs: number;
  /** Long enough for a thousandth of the requests to be some. */
  readonly openLoopMs: number;
  readonly streamCellMs: number;
  readonly accountsCellMs: number;
  readonly viewersCellMs: number;
  readonly warmUpLimitMs: number;
  readonly connections: readonly number[];
  readonly pacedStreams: readonly number[];
  readonly pacedEvents: number;
  /** How often a number of streams that stalled is tried. */
  readonly pacedAttempts: number;
  readonly burstModel: string;
  /** Of hostile load: how long its other caller is alone first, and after which time an attack is ended. */
  readonly quietMs: number;
  readonly attackMs: number;
}

export const PACED_GAP_MS = 20;
/** A provider that sends faster than any reader reads: 200 events, 16 in each write. */
const BURST_MODEL = 'burst-16x200';
export const BURST_CONNECTIONS = 64;
export const ACCOUNTS_CONNECTIONS = 64;
const OPEN_LOOP_PER_S = 500;

export function planRun(quick: boolean): Plan {
  if (quick) {
    return {
      cellMs: 600,
      openLoopMs: 2_000,
      streamCellMs: 700,
      accountsCellMs: 1_000,
      viewersCellMs: 1_000,
      warmUpLimitMs: 500,
      connections: [1, 64],
      pacedStreams: [100, 500],
      pacedEvents: 100,
      pacedAttempts: 1,
      burstModel: BURST_MODEL,
      quietMs: 2_000,
      attackMs: 6_000,
    };
  }
  return {
    cellMs: 600,
    openLoopMs: 10_000,
    streamCellMs: 800,
    accountsCellMs: 1_500,
    viewersCellMs: 3_000,
    warmUpLimitMs: 6_000,
    connections: [1, 8, 64],
    pacedStreams: [100, 250, 500, 750, 1_000],
    pacedEvents: 250,
    pacedAttempts: 2,
    burstModel: BURST_MODEL,
    quietMs: 5_000,
    attackMs: 25_000,
  };
}

export function pacedModel(plan: Plan): string {
  return `paced-${PACED_GAP_MS}x${plan.pacedEvents}`;
}

/** The mock's models that a run uses: the gateway's configuration lists them. */
export function listModels(plan: Plan): readonly string[] {
  return ['whole', plan.burstModel, pacedModel(plan)];
}

export function listWholeSettings(plan: Plan): readonly Setting[] {
  const common = {
    model: 'whole',
    durationMs: plan.cellMs,
    baseline: 'json',
    addedAbove: 'json',
    unit: 'answers',
  } as const;
  const closed = (['small', 'large'] as const).flatMap((size) =>
    plan.connections.map((connections): Setting => ({
      ...common,
      label: `whole answers, ${BODY_LABELS[size]} request, ${name(connections)}`,
      size,
      load: { kind: 'closed', connections },
      variants:
        size === 'small' && connections === 64
          ? ['direct', 'json', 'chat', 'messages', 'responses<responses', 'translated', 'responses<chat', 'portkey']
          : size === 'small' || connections === 64
            ? ['direct', 'json', 'chat', 'portkey']
            : ['direct', 'json', 'chat'],
    })),
  );
  return [
    ...closed,
    {
      ...common,
      label: `whole answers, ${BODY_LABELS.small} request, open loop at ${OPEN_LOOP_PER_S}/s`,
      size: 'small',
      durationMs: plan.openLoopMs,
      load: { kind: 'open', requestsPerS: OPEN_LOOP_PER_S },
      variants: ['direct', 'json', 'chat', 'portkey'],
    },
  ];
}

const STREAM_VARIANTS: readonly VariantId[] = [
  'direct',
  'pipe',
  'chat',
  'messages',
  'responses<responses',
  'translated',
  'responses<chat',
  'portkey',
];

export function listStreamSettings(plan: Plan): readonly Setting[] {
  const common = {
    model: plan.burstModel,
    size: 'small',
    baseline: 'pipe',
    addedAbove: 'pipe',
    unit: 'events',
  } as const;
  return [
    {
      ...common,
      label: `burst streams, ${name(BURST_CONNECTIONS)}`,
      load: { kind: 'closed', connections: BURST_CONNECTIONS },
      durationMs: plan.streamCellMs,
      variants: STREAM_VARIANTS,
    },
    {
      ...common,
      label: `burst streams, ${name(1)}`,
      load: { kind: 'closed', connections: 1 },
      durationMs: plan.cellMs,
      variants: STREAM_VARIANTS,
    },
  ];
}

/** Every caller's format with every upstream's. */
export function listPairSettings(plan: Plan): readonly Setting[] {
  return [
    {
      model: plan.burstModel,
      size: 'small',
      baseline: 'pipe',
      unit: 'events',
      label: `burst streams by formats, ${name(BURST_CONNECTIONS)}`,
      load: { kind: 'closed', connections: BURST_CONNECTIONS },
      durationMs: plan.streamCellMs,
      variants: ['pipe', ...PAIR_IDS],
    },
  ];
}

/** The same requests with accounts off and on. */
export function listAccountsSettings(plan: Plan): readonly Setting[] {
  const common = {
    model: 'whole',
    size: 'small',
    durationMs: plan.accountsCellMs,
    baseline: 'off',
    addedAbove: 'off',
    unit: 'answers',
    variants: ['direct', 'off', 'embedded', 'postgres'],
  } as const;
  return [
    ...[1, ACCOUNTS_CONNECTIONS].map((connections): Setting => ({
      ...common,
      label: `accounts, ${name(connections)}`,
      load: { kind: 'closed', connections },
    })),
    {
      ...common,
      label: `accounts, open loop at ${OPEN_LOOP_PER_S}/s`,
      load: { kind: 'open', requestsPerS: OPEN_LOOP_PER_S },
    },
  ];
}

const VIEWERS_CONNECTIONS = 64;

/** The same requests while live views of the dashboard are open, and while none is. */
export function listViewersSettings(plan: Plan): readonly Setting[] {
  return (
    [
      ['unviewed', 'viewed'],
      ['unviewed-2', 'viewed-2'],
    ] as const
  ).map((variants, at) => ({
    label: `live views, ${name(VIEWERS_CONNECTIONS)}${at === 0 ? '' : ', 2 workers'}`,
    model: 'whole',
    size: 'small',
    durationMs: plan.viewersCellMs,
    load: { kind: 'closed', connections: VIEWERS_CONNECTIONS },
    baseline: variants[0],
    addedAbove: variants[0],
    unit: 'answers',
    variants,
  }));
}

function name(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`;
}
