import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert, unreachable } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import { exactUsd } from '../../lib/money.ts';
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
import { countedName, countedSpend, windowStartMs, type SpendLimit, type Spent } from './spend-limit.ts';

/** Bounds of the cost of one request. */
interface CostBound {
  /** The highest cost: with the gateway's own credentials, and with callers' credentials at list price. */
  readonly worst: Spent;
  /** The rest that a request needs to begin, where its response is cut to what is reserved. Absent: all of `worst`. */
  readonly least?: Spent;
  /** The response tokens in `least`; absent: the caller has set a bound. */
  readonly leastTokens?: number;
  /** A quarter of the rest is reserved, or this much where that is more. Absent: `worst`, as far as the rest allows. */
  readonly share?: Spent;
  /** How many response tokens so much money buys. */
  readonly affordableTokens: (nanoUsd: number) => number;
  /** The part of `worst`, `least` and `share` that a running request has cost already. Absent: nothing. */
  readonly spent?: Spent;
}

/** What to reserve for one request. */
export interface BudgetEstimate extends CostBound {
  readonly generationId: string;
  /**
   * Reservations of the same request that this one replaces in one step: no other request gets their money in between.
   */
  readonly instead?: readonly Reservation[];
  /** The permit to take once the money is reserved, where both are one step. Absent: none. */
  readonly permit?: PermitRequest;
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
/** Even a free request needs this much of a limit; the credit of an account may be at 0. @spec money-28 */
const LEFT_NANO_USD_MIN = 1;

export function createLedger(deps: LedgerDeps): Ledger {
  const { reservations, onFailed } = deps;
  const isLimited = (limits: readonly SpendLimit[]): boolean => limits.length > 0 || deps.readBalance !== undefined;
  return {
    isLimited,
    admit: (principal, limits) => (isLimited(limits) ? admit(deps, principal, limits) : undefined),
    reserve: (principal, limits, estimate) =>
      isLimited(limits) ? reserve(deps, principal, limits, estimate()) : undefined,
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
  const { generationId: id, permit } = estimate;
  const requested = {
    id,
    expiresInMs: deps.reservationMs,
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
  throw refusal(refused.limit, input, decided.leftNanoUsd, decided.reservedByOthersNanoUsd);
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

const WINDOW_WORD = { daily: 'daily ', weekly: 'weekly ', monthly: 'monthly ' } as const;

function refusal(limit: SpendLimit, input: CostBound, leftNanoUsd: number, reservedNanoUsd: number): GatewayError {
  const isPayment = limit.kind === 'key' || limit.kind === 'issuer' || limit.kind === 'account';
  const message = `${describeLack(limit, leftNanoUsd + reservedNanoUsd)} ${describeRemedy(limit, input, leftNanoUsd, reservedNanoUsd)}`;
  // Others' reservations are released when their requests end.
  const wouldFit =
    leftNanoUsd + reservedNanoUsd >= countedSpend(limit, input.least ?? input.worst) && reservedNanoUsd > 0;
  return new GatewayError(isPayment ? 'payment_required' : 'permission_denied', message, {
    lacksFunds: true,
    ...(wouldFit && { retryAfterMs: 1_000 }),
  });
}

/** Names the limit with its interval, for a workspace even where it has none. @spec money-27 */
function describeLack(spendLimit: SpendLimit, leftNanoUsd: number): string {
  const { kind, limitNanoUsd, reset } = spendLimit;
  const left = leftNanoUsd <= 0 ? 'nothing' : `${exactUsd(leftNanoUsd)} USD`;
  const always = kind === 'workspace' ? 'lifetime ' : '';
  const limit = `${reset === null ? always : WINDOW_WORD[reset]}${nounOf(spendLimit)} of ${exactUsd(limitNanoUsd)} USD`;
  switch (kind) {
    case 'account':
      return leftNanoUsd < 0
        ? `The account owes ${exactUsd(-leftNanoUsd)} USD.`
        : `The account has ${left} of its credit left.`;
    case 'key':
      return `The API key has ${left} left of its ${limit}.`;
    case 'issuer':
      return `The key that issued this API key has ${left} left of its ${limit}, which counts both.`;
    case 'workspace':
      return `The workspace has ${left} left of its ${limit}.`;
    case 'guardrail':
      return `A guardrail leaves this caller ${left} of its ${limit}.`;
    default:
      return unreachable(kind);
  }
}

function nounOf({ kind }: SpendLimit): string {
  return kind === 'workspace' || kind === 'guardrail' ? 'budget' : 'limit';
}

/** Says what is needed, and what to do. @spec money-29 */
function describeRemedy(limit: SpendLimit, input: CostBound, leftNanoUsd: number, reservedNanoUsd: number): string {
  if (leftNanoUsd + reservedNanoUsd < LEFT_NANO_USD_MIN) {
    if (limit.kind === 'account') return 'Add credit.';
    return `Raise the ${nounOf(limit)}${limit.reset === null ? '' : ', or wait for it to begin anew'}.`;
  }
  const reserved = reservedNanoUsd > 0 ? ` Requests under way hold ${exactUsd(reservedNanoUsd)} USD of it.` : '';
  const tokens = input.affordableTokens(Math.max(0, leftNanoUsd));
  const isBuyable = tokens > 0 && tokens < Infinity && (input.leastTokens === undefined || tokens < input.leastTokens);
  const mayComeFree =
    reservedNanoUsd > 0 && leftNanoUsd + reservedNanoUsd >= countedSpend(limit, input.least ?? input.worst);
  const raise = limit.kind === 'account' ? 'Add credit' : `Raise the ${nounOf(limit)}`;
  const advice = isBuyable
    ? ` Set max_tokens to ${tokens} or less.`
    : mayComeFree
      ? ' Try again when they have ended.'
      : ` ${raise}, send a shorter prompt or choose a cheaper model.`;
  return `${describeNeed(limit, input)}${reserved}${advice}`;
}

function describeNeed(limit: SpendLimit, { worst, least, leastTokens }: CostBound): string {
  if (least === undefined) return `The request may cost up to ${exactUsd(countedSpend(limit, worst))} USD.`;
  const answer =
    leastTokens === undefined ? '' : ` and ${leastTokens} ${leastTokens === 1 ? 'token' : 'tokens'} of an answer`;
  return `The request needs at least ${exactUsd(countedSpend(limit, least))} USD for its prompt, fees${answer}.`;
}
