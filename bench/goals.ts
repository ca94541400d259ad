import type { Row, SettingResult } from './measure.ts';
import { findLargestPassed, GOAL_STREAMS, type PacedResult } from './paced.ts';
import type { DocumentCosts } from './costs/document-cost.ts';
import type { GuardrailCosts } from './costs/content-filter-cost.ts';
import type { FusionResult } from './fusion.ts';
import type { HostileResult } from './hostile.ts';
import type { Peak } from './process-stats.ts';
import type { RouterCosts } from './costs/router-cost.ts';
import type { RoutingResult } from './costs/routing-cost.ts';
import { ACCOUNTS_CONNECTIONS, BURST_CONNECTIONS } from './suites.ts';
import { GATEWAY_LABEL, type VariantId } from './variants.ts';

const STREAM_RATIO_MIN = 0.45;
const TRANSLATED_RATIO_MIN = 0.3;

/** What the project promises of the gateway, relative to the thinnest proxies of the same run: absolute figures are the machine's. */
export interface Goal {
  readonly promise: string;
  readonly measured: string;
  readonly met: boolean;
}

/** Of the proxy that parses JSON both ways. */
const WHOLE_RATIO_MIN = [
  { size: 'small', connections: 8, ratioMin: 0.5 },
  { size: 'small', connections: 64, ratioMin: 0.55 },
  { size: 'large', connections: 64, ratioMin: 0.6 },
] as const;
/** More than the same proxy takes: for a lone caller, and for requests that come at their own times. */
const LONE_ADDED_P50_MS_MAX = 0.12;
const OPEN_ADDED_P50_MS_MAX = 0.15;
const OPEN_ADDED_P99_MS_MAX = 1;
const OPEN_ADDED_P999_MS_MAX = 5;

export function judgeWhole(results: readonly SettingResult[]): readonly Goal[] {
  return results.flatMap(({ setting: { label, load, size }, rows }) => {
    const row = findRow(rows, 'chat');
    if (row === undefined) return [];
    if (load.kind === 'open') {
      return [
        judgeAdded(label, 'added p50', row.addedP50Us / 1000, OPEN_ADDED_P50_MS_MAX),
        judgeAdded(label, 'added p99', row.addedP99Us / 1000, OPEN_ADDED_P99_MS_MAX),
        judgeAdded(label, 'added p99.9', row.addedP999Us / 1000, OPEN_ADDED_P999_MS_MAX),
      ];
    }
    if (load.connections === 1 && size === 'small')
      return [judgeAdded(label, 'added p50', row.addedP50Us / 1000, LONE_ADDED_P50_MS_MAX)];
    return WHOLE_RATIO_MIN.filter((one) => one.size === size && one.connections === load.connections).map(
      ({ ratioMin }) => judgeRatio(label, '(a)', row, ratioMin),
    );
  });
}

const PEER_RATIO_MIN = 5;
const PEER_P99_RATIO_MAX = 0.25;

/** Beside Portkey, which keeps no accounts and no records: each setting of whole answers in which it was measured. */
export function judgePeer(results: readonly SettingResult[]): readonly Goal[] {
  return results.flatMap(({ setting: { label, load }, rows }) => {
    const row = findRow(rows, 'chat');
    const peer = findRow(rows, 'portkey');
    if (row?.ofPeer === undefined || peer === undefined) return [];
    const wrong = row.bad === 0 && peer.bad === 0 ? '' : `, ${row.bad + peer.bad} wrong answers`;
    const { perS, p99 } = row.ofPeer;
    if (load.kind === 'open') {
      return [
        {
          promise: `${label}: p99 at most ${PEER_P99_RATIO_MAX} of ${peer.label}`,
          measured: p99.toFixed(2) + wrong,
          met: p99 <= PEER_P99_RATIO_MAX && wrong === '',
        },
      ];
    }
    return [
      {
        promise: `${label}: at least ${PEER_RATIO_MIN} times ${peer.label}`,
        measured: `${perS.toFixed(1)} times${wrong}`,
        met: perS >= PEER_RATIO_MIN && wrong === '',
      },
    ];
  });
}

const FIRST_EVENT_ADDED_MS_MAX = 0.1;

export function judgeStreams(results: readonly SettingResult[]): readonly Goal[] {
  const limits: readonly (readonly [VariantId, number])[] = [
    ['chat', STREAM_RATIO_MIN],
    ['messages', STREAM_RATIO_MIN],
    ['responses<responses', STREAM_RATIO_MIN],
    ['translated', TRANSLATED_RATIO_MIN],
    ['responses<chat', TRANSLATED_RATIO_MIN],
  ];
  return results.flatMap(({ setting: { label, load }, rows }) =>
    limits.flatMap(([id, ratioMin]) => {
      const row = findRow(rows, id);
      if (row === undefined || load.kind === 'open') return [];
      const what = `${label}, ${row.label}`;
      return load.connections === BURST_CONNECTIONS
        ? [judgeRatio(what, '(b)', row, ratioMin)]
        : [judgeAdded(what, 'first event added', row.addedFirstFrameP50Us / 1000, FIRST_EVENT_ADDED_MS_MAX)];
    }),
  );
}

export function judgePairs(results: readonly SettingResult[]): readonly Goal[] {
  return results.flatMap(({ rows }) =>
    rows
      .filter(({ variant }) => variant.includes('<'))
      .map((row) => judgeRatio(`burst streams, ${row.label}`, '(b)', row, minOfPair(row.variant))),
  );
}

function minOfPair(id: VariantId): number {
  const [caller, upstream] = id.split('<');
  return caller === upstream ? STREAM_RATIO_MIN : TRANSLATED_RATIO_MIN;
}

/** At the first try: a stall at one try of two is one. */
export function judgePaced(results: readonly PacedResult[]): readonly Goal[] {
  return (['chat', 'translated'] as const).flatMap((id) => {
    const [own] = results.filter(({ variant }) => variant === id);
    if (own === undefined) return [];
    const tries = results.filter(({ variant, streams }) => variant === id && streams === GOAL_STREAMS);
    const passed = tries.filter((one) => one.passed).length;
    return [
      {
        promise: `${GOAL_STREAMS} paced streams without a stall, ${own.label}`,
        measured: `${passed} of ${tries.length} tries; at most ${findLargestPassed(results, id)} streams`,
        met: tries.length > 0 && passed === tries.length,
      },
    ];
  });
}

/** Of the process, under the load of up to 64 connections. */
const PEAK_MIB_MAX = 300;

/** @param peaks what each server held at most in each suite */
export function judgePeaks(peaks: readonly Peak[]): readonly Goal[] {
  return peaks.flatMap(({ server, suite, peakMiB }) =>
    server !== GATEWAY_LABEL || peakMiB === undefined || (suite !== 'whole' && suite !== 'stream')
      ? []
      : [
          {
            promise: `peak memory, ${suite}: at most ${PEAK_MIB_MAX} MiB`,
            measured: `${peakMiB.toFixed(0)} MiB`,
            met: peakMiB <= PEAK_MIB_MAX,
          },
        ],
  );
}

/** MiB that a million picks may leave: what is bounded was full long before. */
const KEPT_MIB_MAX = 16;

export function judgeRouting({ costs, keptMiB }: RoutingResult): readonly Goal[] {
  return [
    ...judgeCosts(costs),
    {
      promise: 'picking 1,000,000 times leaves nothing behind',
      measured: `${keptMiB.toFixed(1)} MiB`,
      met: keptMiB < KEPT_MIB_MAX,
    },
  ];
}

export function judgeRouters(costs: RouterCosts): readonly Goal[] {
  return judgeCosts(costs);
}

function judgeCosts(costs: RouterCosts | RoutingResult['costs']): readonly Goal[] {
  return costs.flatMap(({ what, us, usMax }) =>
    usMax === undefined
      ? []
      : [{ promise: `${what}: under ${usMax} us`, measured: `${us.toFixed(1)} us`, met: us < usMax }],
  );
}

const PATTERNS_MS_MAX = 20;
const BLOCK_MS_MAX = 5;

const FUSION_MS_MAX = 5;

export function judgeFusion(results: readonly FusionResult[]): readonly Goal[] {
  return results.map(({ members, aroundMs }) => ({
    promise: `a panel of ${members}: under ${FUSION_MS_MAX} ms beside its slowest member and its analyst`,
    measured: `${aroundMs.toFixed(2)} ms`,
    met: aroundMs < FUSION_MS_MAX,
  }));
}

export function judgeGuardrails(costs: GuardrailCosts): readonly Goal[] {
  return costs.flatMap(({ what, ms, blockMs }) => {
    const block = {
      promise: `${what}: the event loop waits under ${BLOCK_MS_MAX} ms`,
      measured: `${blockMs.toFixed(2)} ms`,
      met: blockMs < BLOCK_MS_MAX,
    };
    if (what !== '50 patterns, 100 KB') return [block];
    return [
      { promise: `${what}: under ${PATTERNS_MS_MAX} ms`, measured: `${ms.toFixed(1)} ms`, met: ms < PATTERNS_MS_MAX },
      block,
    ];
  });
}

const DOCUMENT_BLOCK_MS_MAX = 20;

export function judgeDocuments(costs: DocumentCosts): readonly Goal[] {
  return costs.map(({ what, blockMs }) => ({
    promise: `reading ${what}: the event loop waits under ${DOCUMENT_BLOCK_MS_MAX} ms`,
    measured: `${blockMs.toFixed(1)} ms`,
    met: blockMs < DOCUMENT_BLOCK_MS_MAX,
  }));
}

/** Of the same caller without the attack. */
const HOSTILE_RATIO_MAX = 2;
const HOSTILE_GAP_MS_MAX = 100;

export function judgeHostile(results: readonly HostileResult[]): readonly Goal[] {
  return results.flatMap(({ attack, quietP99Ms, p99Ms, gapMs, bad }) => [
    {
      promise: `${attack}: p99 of another caller at most ${HOSTILE_RATIO_MAX} times that without`,
      measured: `${(p99Ms / quietP99Ms).toFixed(1)} times${bad === 0 ? '' : `, ${bad} failed`}`,
      met: p99Ms <= HOSTILE_RATIO_MAX * quietP99Ms && bad === 0,
    },
    {
      promise: `${attack}: the event loop waits at most ${HOSTILE_GAP_MS_MAX} ms`,
      measured: `${gapMs.toFixed(0)} ms`,
      met: gapMs <= HOSTILE_GAP_MS_MAX,
    },
  ]);
}

/** Of what the gateway does with accounts off. @source README.md, "Accounts" */
const ACCOUNTS_RATIO_MIN = { embedded: 0.9, postgres: 0.75 } as const;
const ACCOUNTS_ADDED_P50_MS_MAX = 2;
const ACCOUNTS_ADDED_P99_MS_MAX = 10;
const ACCOUNTS_ADDED_LOOP_P99_MS_MAX = 5;

export function judgeAccounts(results: readonly SettingResult[]): readonly Goal[] {
  return results.flatMap(({ setting: { label, load }, rows }) =>
    (['embedded', 'postgres'] as const).flatMap((id) => {
      const row = findRow(rows, id);
      if (row === undefined) return [];
      const what = `${label}, ${row.label}`;
      const isFull = load.kind === 'closed' && load.connections === ACCOUNTS_CONNECTIONS;
      return [
        ...(isFull ? [judgeRatio(what, 'off', row, ACCOUNTS_RATIO_MIN[id])] : []),
        // Under full load latency is the length of the queue; what a request takes shows where there is none.
        ...(load.kind === 'open'
          ? [judgeAdded(what, 'added p99', row.addedP99Us / 1000, ACCOUNTS_ADDED_P99_MS_MAX)]
          : []),
        ...(load.kind === 'closed' && load.connections === 1 && id === 'embedded'
          ? [judgeAdded(what, 'added p50', row.addedP50Us / 1000, ACCOUNTS_ADDED_P50_MS_MAX)]
          : []),
        ...(load.kind === 'open' || isFull
          ? [judgeAdded(what, 'event loop later at p99', row.addedLoopP99Ms, ACCOUNTS_ADDED_LOOP_P99_MS_MAX)]
          : []),
      ];
    }),
  );
}

/** Live views may take so much of the throughput. */
const VIEWERS_RATIO_MIN = 0.97;

export function judgeViewers(results: readonly SettingResult[]): readonly Goal[] {
  return results.flatMap(({ setting: { label, baseline }, rows }) =>
    rows
      .filter(({ variant }) => variant !== baseline)
      .map((row) => judgeRatio(`${label}, ${row.label}`, 'no live view', row, VIEWERS_RATIO_MIN)),
  );
}

function judgeAdded(what: string, figure: string, ms: number, msMax: number): Goal {
  return { promise: `${what}: ${figure} at most ${msMax} ms`, measured: `${ms.toFixed(2)} ms`, met: ms <= msMax };
}

function judgeRatio(what: string, baseline: string, row: Row, ratioMin: number): Goal {
  return {
    promise: `${what}: at least ${ratioMin} of ${baseline}`,
    measured: [
      row.ratio.toFixed(2),
      ...(row.cpuRatio === undefined ? [] : [`by CPU ${row.cpuRatio.toFixed(2)}`]),
      ...(row.bad === 0 ? [] : [`${row.bad} wrong answers`]),
    ].join(', '),
    met: row.ratio >= ratioMin && row.bad === 0,
  };
}

function findRow(rows: readonly Row[], id: VariantId): Row | undefined {
  return rows.find((row) => row.variant === id);
}
