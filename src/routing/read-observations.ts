import { STATUS_OF_ERROR_TYPE, type ErrorType } from '../canonical/gateway-error.ts';
import type { FailureFacts } from './health.ts';

/** News of one endpoint: so many successes in a row, or that of a probe; or one failure; or an operator's reset. */
export type Observation =
  | readonly [endpoint: string, what: 'ok' | 'recovered' | 'reset', count: number]
  | readonly [endpoint: string, what: 'failed' | 'broke-off', failure: FailureFacts];

/** In one row; more would only take time. */
const COUNT_MAX = 1_000;

const KINDS: ReadonlySet<unknown> = new Set<FailureFacts['kind']>([
  'connect',
  'reset',
  'status',
  'timeout',
  'error-event',
  'early-end',
  'garbage',
  'too-large',
  'aborted',
  'unsayable',
  'unspliceable',
]);
const CLOCKS: ReadonlySet<unknown> = new Set<FailureFacts['clock']>([
  undefined,
  'connect',
  'headers',
  'first-token',
  'idle',
  'whole',
  'total',
]);

/** What another process saw, which may be of another version: what cannot be read is left out. */
export function readObservations(message: string): readonly Observation[] {
  let values: unknown;
  try {
    values = JSON.parse(message);
  } catch {
    return [];
  }
  return Array.isArray(values) ? values.flatMap(readObservation) : [];
}

function readObservation(value: unknown): readonly Observation[] {
  if (!Array.isArray(value)) return [];
  const [endpoint, what, seen]: readonly unknown[] = value;
  if (typeof endpoint !== 'string') return [];
  if ((what === 'ok' || what === 'recovered' || what === 'reset') && isWhole(seen))
    return [[endpoint, what, Math.min(seen, COUNT_MAX)]];
  if ((what === 'failed' || what === 'broke-off') && isFailure(seen)) return [[endpoint, what, seen]];
  return [];
}

function isFailure(value: unknown): value is FailureFacts {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, clock, cutAfterMs, errorType, status, upstreamStatus, retryAfterMs, lastedMs } = asMembers(value);
  return (
    KINDS.has(kind) &&
    CLOCKS.has(clock) &&
    isErrorType(errorType) &&
    isWhole(status) &&
    (upstreamStatus === undefined || isWhole(upstreamStatus)) &&
    (cutAfterMs === undefined || typeof cutAfterMs === 'number') &&
    (lastedMs === undefined || (typeof lastedMs === 'number' && lastedMs >= 0)) &&
    (retryAfterMs === undefined || (typeof retryAfterMs === 'number' && retryAfterMs >= 0))
  );
}

function asMembers(value: object): Readonly<Partial<Record<keyof FailureFacts, unknown>>> {
  return value;
}

function isErrorType(value: unknown): value is ErrorType {
  return typeof value === 'string' && Object.hasOwn(STATUS_OF_ERROR_TYPE, value);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
