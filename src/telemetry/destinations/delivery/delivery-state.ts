import type { CursorRow, DeliveryState } from '../../../store/exports/columns.ts';

/** After so many failed calls in a row, or so long without success, a destination is failing. */
const FAILING_CALLS = 10;
const FAILING_MS = 900_000;
/** It is turned off after this time without any success, and so many failed calls. */
const SUSPEND_CALLS = 50;
const WAIT_MS_MIN = 1_000;
const WAIT_MS_MAX = 900_000;
/** Nothing changes by itself where credentials or the address are wrong. */
const FAULT_WAIT_MS_MIN = 60_000;
const DOUBLINGS_MAX = 10;
/** Part of a wait that chance adds: processes that failed together do not try again together. */
const JITTER_SHARE = 0.3;

/** Why sending stopped. */
export interface DeliveryStop {
  readonly status: number | null;
  /** Safe to show. */
  readonly message: string;
  /** Credentials or the address are wrong, or the address refuses everything. */
  readonly isFault: boolean;
  readonly afterMs?: number | undefined;
  readonly suspends?: true | undefined;
}

type Failing = Pick<CursorRow, 'state' | 'failures' | 'failingSinceMs' | 'lastError'>;

/** The state of a destination after a call that failed. */
export function afterFailure(
  before: Pick<CursorRow, 'failures' | 'failingSinceMs'>,
  stop: DeliveryStop,
  nowMs: number,
  suspendAfterMs: number,
): Failing {
  const failures = before.failures + 1;
  const failingSinceMs = before.failingSinceMs ?? nowMs;
  const forMs = nowMs - failingSinceMs;
  const isSuspended =
    stop.suspends === true || (suspendAfterMs > 0 && forMs >= suspendAfterMs && failures >= SUSPEND_CALLS);
  const isFailing = stop.isFault || failures >= FAILING_CALLS || forMs >= FAILING_MS;
  const state: DeliveryState = isSuspended ? 'suspended' : isFailing ? 'failing' : 'retrying';
  return { state, failures, failingSinceMs, lastError: { atMs: nowMs, status: stop.status, message: stop.message } };
}

/**
 * How long to wait after so many failures: longer where the address says so, within the same bound. There is no last try:
 * records wait in the database. @spec destination-21
 */
export function waitAfter(failures: number, { isFault, afterMs = 0 }: DeliveryStop, random: number): number {
  const doubled = WAIT_MS_MIN * 2 ** Math.min(DOUBLINGS_MAX, failures - 1);
  const hintedMs = Number.isNaN(afterMs) ? 0 : afterMs;
  const waitMs = Math.min(WAIT_MS_MAX, Math.max(doubled, hintedMs, isFault ? FAULT_WAIT_MS_MIN : 0));
  return waitMs * (1 + JITTER_SHARE * random);
}
