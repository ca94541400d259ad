import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import {
  ReservationsBusy,
  type Allowance,
  type Reservations,
  type LoadSpent,
  type PermitResult,
  type PermitRequest,
  type ReservationResult,
} from '../../state/contract.ts';
import type { Principal } from '../principal.ts';
import { paymentRequired } from './payment-required.ts';
import {
  countedName,
  countedSpend,
  LEFT_NANO_USD_MIN,
  windowStartMs,
  type CostBound,
  type SpendLimit,
  type Spent,
} from './spend-limit.ts';

/** What to reserve for one request. */
export interface BudgetEstimate extends CostBound {
  readonly generationId: string;
  /**
   * Reservations of the same request that this one replaces in one step: no other request gets their money in between.
   */
  readonly instead?: readonly Reservation[];
  /** The permit to take once the money is reserved, where both are one step. Absent: none. */
  readonly permit?: PermitRequest;
  /** For what outlives its request. Absent: a little longer than any request. */
  readonly expiresInMs?: number;
}

/** Money that is reserved for one request, until it is settled or released. */
export interface Reservation {
  readonly id: string;
  readonly counted: readonly ReservedLimit[];
  /** The result of the permit request. Absent: there was none. */
  readonly permitted?: PermitResult;
}

/**
 * What is reserved beyond what was spent, for calls with the gateway's own credentials or with callers' credentials.
 */
export interface Room {
  readonly ownNanoUsd: number;
  /** `Infinity`: no limit counts these calls. */
  readonly byokNanoUsd: number;
}

/** Computes what a request that has spent so much may still spend of its reservation. */
export function roomOf({ counted }: Reservation, spent: Spent): Room {
  const leftOf = (limits: readonly ReservedLimit[]): number =>
    Math.min(...limits.map(({ limit, reservedNanoUsd }) => Math.max(0, reservedNanoUsd - countedSpend(limit, spent))));
  return { ownNanoUsd: leftOf(counted), byokNanoUsd: leftOf(counted.filter(({ limit }) => limit.includesByok)) };
}

/** One limit, and what is reserved of it. */
interface ReservedLimit extends CountedLimit {
  readonly reservedNanoUsd: number;
}

interface CountedLimit {
  readonly limit: SpendLimit;
  /** The name under which it is counted. */
  readonly name: string;
  readonly sinceMs: number;
}

/**
 * Handles money in two phases: it is reserved before the first attempt, and settled by actual use. All processes that
 * share a state see all spending and reservations. @spec money-29
 */
export interface Ledger {
  /**
   * Checks first of all whether anything is left. Returns `undefined` at once for callers without limits. Reserves
   * nothing; others' reservations may be released and do not count.
   * @throws GatewayError 402 or 403 when a limit is used up; 503 while spending is unknown
   * @spec money-27, auth-18
   */
  admit(principal: Principal, limits: readonly SpendLimit[]): Promise<void> | undefined;
  /**
   * Reserves money. Returns `undefined` at once for callers without limits.
   * @param limits bounds on the caller's spending beside the account's credit, in the order of the checks
   * @throws GatewayError 402 or 403 when too little is left; 503 while spending is unknown
   */
  reserve(
    principal: Principal,
    limits: readonly SpendLimit[],
    estimate: () => BudgetEstimate,
  ): Promise<Reservation> | undefined;
  /** A reservation that another process made, or this one before it was started again. It is settled as any other. */
  resume(principal: Principal, limits: readonly SpendLimit[], id: string): Reservation;
  /** Whether any limit applies to the caller's spending. */
  isLimited(limits: readonly SpendLimit[]): boolean;
  /**
   * Runs after the charge, which may be nothing, is durable: counts the charge once and frees the rest. Never rejects.
   */
  settle(reservation: Reservation, charge: Spent): Promise<void>;
  /** Frees a reservation that was not used, or that another reservation replaced. Never rejects. */
  release(reservation: Reservation): Promise<void>;
}

export interface LedgerDeps {
  readonly reservations: Reservations;
  readonly clock: Clock;
  /** Reads the durable sum since a time, Unix ms. */
  readonly readSpent: (subject: string, sinceMs: number) => Promise<Spent>;
  /** Reads the sum of all entries of the account, nano-USD. Absent: credit is not enforced. */
  readonly readBalance?: (accountId: string) => Promise<number>;
  /** Longer than any request: the reservations of a dead process expire by themselves. */
  readonly reservationMs: number;
  /** Runs when the state could not be updated; the reservation expires by itself. */
  readonly onFailed: (error: unknown) => void;
}

/** A database that does not answer within this time is away. */
const READ_MS_MAX = 1_000;

export function createLedger(deps: LedgerDeps): Ledger {
  const { reservations, onFailed } = deps;
  const isLimited = (limits: readonly SpendLimit[]): boolean => limits.length > 0 || deps.readBalance !== undefined;
  return {
    isLimited,
    admit: (principal, limits) => (isLimited(limits) ? admit(deps, principal, limits) : undefined),
    reserve: (principal, limits, estimate) =>
      isLimited(limits) ? reserve(deps, principal, limits, estimate()) : undefined,
    resume(principal, limits, id) {
      const counted = [...countedLimits(deps, principal, limits).values()];
      return { id, counted: counted.map((each) => ({ ...each, reservedNanoUsd: 0 })) };
    },
    async settle({ id, counted }, charge) {
      const charges = counted.map(({ name, limit }) => ({ subject: name, nanoUsd: countedSpend(limit, charge) }));
      await reservations.settle(id, charges).catch(onFailed);
    },
    async release({ id }) {
      await reservations.release(id).catch(onFailed);
    },
  };
}

/** The bounds of a request that only needs some rest. */
const NOTHING: CostBound = {
  worst: { ownNanoUsd: 0, byokNanoUsd: 0 },
  affordableTokens: () => 0,
};

async function admit(deps: LedgerDeps, principal: Principal, limits: readonly SpendLimit[]): Promise<void> {
  const byName = countedLimits(deps, principal, limits);
  const allowances = [...byName.values()].map((each) => allowanceOf(each, NOTHING));
  await applyLimits(deps, principal, byName, NOTHING, (load) => deps.reservations.check(allowances, load));
}

async function reserve(
  deps: LedgerDeps,
  principal: Principal,
  limits: readonly SpendLimit[],
  estimate: BudgetEstimate,
): Promise<Reservation> {
  const byName = countedLimits(deps, principal, limits);
  const counted = [...byName.values()];
  const { generationId: id, permit, expiresInMs = deps.reservationMs } = estimate;
  const requested = {
    id,
    expiresInMs,
    allowances: counted.map((each) => allowanceOf(each, estimate)),
    ...(estimate.instead !== undefined && { instead: estimate.instead.map((reservation) => reservation.id) }),
    ...(permit !== undefined && { permit }),
  };
  const { reservedNanoUsd, permitted } = await applyLimits(deps, principal, byName, estimate, (load) =>
    deps.reservations.reserve(requested, load),
  );
  return {
    id,
    counted: counted.map((each) => ({ ...each, reservedNanoUsd: reservedNanoUsd.get(each.name) ?? 0 })),
    ...(permitted !== undefined && { permitted }),
  };
}

function countedLimits(
  { clock, readBalance }: LedgerDeps,
  principal: Principal,
  limits: readonly SpendLimit[],
): ReadonlyMap<string, CountedLimit> {
  return strictestByName(readBalance === undefined ? limits : [balanceOf(principal), ...limits], clock.nowMs());
}

/** @throws GatewayError 402, 403 or 503 */
async function applyLimits(
  deps: LedgerDeps,
  principal: Principal,
  byName: ReadonlyMap<string, CountedLimit>,
  input: CostBound,
  decide: (load: LoadSpent) => Promise<ReservationResult>,
): Promise<Extract<ReservationResult, { ok: true }>> {
  const decided = await decide((name) => readSpent(deps, principal, byName.get(name))).catch((error: unknown) => {
    throw error instanceof ReservationsBusy ? throwSpendingUnknown(error) : error;
  });
  if (decided.ok) return decided;
  const refused = byName.get(decided.subject);
  assert(refused !== undefined, 'a refusal names one of the limits');
  throw paymentRequired(refused.limit, input, decided.leftNanoUsd, decided.reservedByOthersNanoUsd);
}

/** A key's own limit and one from a guardrail may count the same: together they are the lower one. */
function strictestByName(limits: readonly SpendLimit[], nowMs: number): ReadonlyMap<string, CountedLimit> {
  const byName = new Map<string, CountedLimit>();
  for (const limit of limits) {
    const sinceMs = windowStartMs(limit.reset, nowMs);
    const name = countedName(limit, sinceMs);
    const known = byName.get(name);
    if (known === undefined || limit.limitNanoUsd < known.limit.limitNanoUsd)
      byName.set(name, { limit, sinceMs, name });
  }
  return byName;
}

/** Turns credit into a limit: what was granted and not spent is a limit of zero on what is owed. */
function balanceOf({ accountId }: Principal): SpendLimit {
  return { subject: `account:${accountId}`, kind: 'account', limitNanoUsd: 0, reset: null, includesByok: false };
}

function allowanceOf({ limit, name }: CountedLimit, { worst, least, share, spent }: CostBound): Allowance {
  const leftMin = limit.kind === 'account' ? 0 : LEFT_NANO_USD_MIN;
  const count = (amount: Spent): number => Math.max(countedSpend(limit, amount), leftMin);
  const want = count(worst);
  return {
    subject: name,
    limitNanoUsd: limit.limitNanoUsd,
    wantNanoUsd: want,
    minNanoUsd: least === undefined ? want : Math.min(want, count(least)),
    ...(share !== undefined && {
      share: { leastNanoUsd: count(share), spentNanoUsd: spent === undefined ? 0 : countedSpend(limit, spent) },
    }),
  };
}

async function readSpent(deps: LedgerDeps, principal: Principal, requested: CountedLimit | undefined): Promise<number> {
  assert(requested !== undefined, 'only what is limited is read');
  const { limit, sinceMs } = requested;
  try {
    if (limit.kind === 'account' && deps.readBalance !== undefined)
      return -(await withTimeout(deps.readBalance(principal.accountId), READ_MS_MAX));
    return countedSpend(limit, await withTimeout(deps.readSpent(limit.subject, sinceMs), READ_MS_MAX));
  } catch (cause) {
    throw throwSpendingUnknown(cause);
  }
}

function throwSpendingUnknown(cause: unknown): GatewayError {
  return new GatewayError('provider_overloaded', 'What was spent cannot be checked at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}
