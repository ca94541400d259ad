import { slopeOf } from '../statistics.ts';

/** What a gateway under load was like at one moment. */
export interface SoakSample {
  /** Since the load began. */
  readonly atMs: number;
  readonly rssMiB: number;
  /** After garbage was collected. */
  readonly heapMiB: number;
  readonly externalMiB: number;
  readonly handles: number;
  readonly openStreams: number;
  readonly sent: number;
  readonly rows: number;
}

export interface Growth {
  readonly what: string;
  /** By how much it rose over the last two thirds. */
  readonly rise: number;
  readonly riseMax: number;
  readonly isFlat: boolean;
}

/** Caches fill and the compiler works in the first third. */
const SETTLED_SHARE = 1 / 3;
/** MiB over the last two thirds: less than 200 bytes a request of a usual run. */
const HEAP_MIB_MAX = 4;
/** The allocator keeps pages that the heap gave back, and takes them in steps. */
const RSS_MIB_MAX = 32;
const HANDLES_MAX = 8;

const EXTERNAL_MIB_MAX = 4;

/** Judged by the line that fits the samples best. */
const TRENDS = [
  ['heap after collection, MiB', 'heapMiB', HEAP_MIB_MAX],
  ['resident memory, MiB', 'rssMiB', RSS_MIB_MAX],
] as const;

/**
 * Judged by the fewest of each half: most of it belongs to the requests under way, bodies and sockets, whose number is that
 * of the moment. What is left over raises the fewest, too.
 */
const FEWEST = [
  ['least external memory, MiB', 'externalMiB', EXTERNAL_MIB_MAX],
  ['fewest handles', 'handles', HANDLES_MAX],
] as const;

/** Whether each stayed the same over the last two thirds of a run. @throws Error with too few samples */
export function judgeGrowth(samples: readonly SoakSample[]): readonly Growth[] {
  const endMs = samples.at(-1)?.atMs ?? 0;
  const settled = samples.filter(({ atMs }) => atMs >= endMs * SETTLED_SHARE);
  if (settled.length < 3) throw new Error('too few samples to tell whether memory grows');
  const spanMs = endMs - (settled[0]?.atMs ?? 0);
  const rises = [
    ...TRENDS.map(([what, member, riseMax]) => {
      const rise = slopeOf(settled.map((sample) => [sample.atMs, sample[member]])) * spanMs;
      return { what, rise, riseMax };
    }),
    ...FEWEST.map(([what, member, riseMax]) => {
      return { what, rise: riseOfFewest(settled.map((sample) => sample[member])), riseMax };
    }),
  ];
  return rises.map((growth) => ({ ...growth, isFlat: growth.rise <= growth.riseMax }));
}

function riseOfFewest(handles: readonly number[]): number {
  const half = Math.floor(handles.length / 2);
  return Math.min(...handles.slice(half)) - Math.min(...handles.slice(0, half));
}
