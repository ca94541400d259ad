import type { LiveMessage, LiveRow } from './messages.ts';

/** What a page shows of a live view. */
export interface Tail {
  /** Newest first. */
  readonly rows: readonly LiveRow[];
  /** What arrived while the tail was paused, newest first. */
  readonly waiting: readonly LiveRow[];
  readonly waitingCount: number;
  readonly missed: number;
  /** Rows are missing, and their number is not known. */
  readonly isGapOpen: boolean;
  /** Of the last rows: there were more. */
  readonly isSampled: boolean;
  readonly isLive: boolean;
  /** Since then the stream is away; `undefined`: it was not yet open, or is. */
  readonly awaySinceMs: number | undefined;
}

/** Rows that a page keeps: older ones are read from the list. */
const ROWS_MAX = 2_000;

export const NO_TAIL: Tail = {
  rows: [],
  waiting: [],
  waitingCount: 0,
  missed: 0,
  isGapOpen: false,
  isSampled: false,
  isLive: false,
  awaySinceMs: undefined,
};

export function takeMessage(tail: Tail, message: LiveMessage, isPaused: boolean, nowMs: number): Tail {
  if (message.kind === 'rows') return takeRows(tail, message, isPaused);
  if (message.kind === 'gap')
    return message.missed === undefined
      ? { ...tail, isGapOpen: true }
      : { ...tail, missed: tail.missed + message.missed };
  if (message.kind === 'state')
    return {
      ...tail,
      isLive: message.isLive,
      awaySinceMs: message.isLive ? undefined : (tail.awaySinceMs ?? (tail.isLive ? nowMs : undefined)),
    };
  return tail;
}

/** Shows what waited. */
export function resumeTail(tail: Tail): Tail {
  return { ...tail, rows: onTop(tail.waiting, tail.rows), waiting: [], waitingCount: 0 };
}

/** Begins anew, once the list has been read again: what was missed is in it. */
export function forgetGap(tail: Tail): Tail {
  return { ...tail, rows: [], waiting: [], waitingCount: 0, missed: 0, isGapOpen: false };
}

function takeRows(
  tail: Tail,
  { rows, isSampled }: Extract<LiveMessage, { readonly kind: 'rows' }>,
  isPaused: boolean,
): Tail {
  const newest = rows.toReversed();
  if (!isPaused) return { ...tail, isSampled, rows: onTop(newest, tail.rows) };
  return {
    ...tail,
    isSampled,
    waiting: onTop(newest, tail.waiting),
    waitingCount: tail.waitingCount + rows.length,
  };
}

function onTop(newest: readonly LiveRow[], rows: readonly LiveRow[]): readonly LiveRow[] {
  return [...newest, ...rows].slice(0, ROWS_MAX);
}

/** The rows of the tail above those of the list, each once. */
export function mergeRows<Row extends { readonly id: string }>(
  tail: readonly Row[],
  list: readonly Row[],
): readonly Row[] {
  const listed = new Set(list.map(({ id }) => id));
  return [...tail.filter(({ id }) => !listed.has(id)), ...list];
}
