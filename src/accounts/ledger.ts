import { GatewayError } from '../canonical/gateway-error.ts';
import { assert, unreachable } from '../lib/assert.ts';
import type { Clock } from '../lib/clock.ts';
import { exactUsd } from '../lib/money.ts';
import { withinTime } from '../lib/time-limit.ts';
import type { Allowance, Holds, LoadSpent, PassAnswer, PassAsked, Reservation } from '../store/shared/contract.ts';
import { HoldsBusy } from '../store/shared/holds-busy.ts';
import type { Principal } from './principal.ts';
import { countedName, countedSpend, windowStartMs, type SpendLimit, type Spent } from './spend-limit.ts';

/** The most that one request may cost. */
interface CostBound {
  /** The most that it may cost: on the gateway's own credentials, and on those of callers at list price. */
  readonly worst: Spent;
  /** No bound was set on the answer: less than the worst case will do, as long as something is left. */
  readonly isOpenEnded: boolean;
  /** How long an answer that much money buys, in tokens. */
  readonly affordableTokens: (nanoUsd: number) => number;
  /** The part of `worst` that a request under way has cost already: so much is held in any case. Absent: nothing. */
  readonly spent?: Spent;
}

/** What is to be held for one request. */
export interface Wish extends CostBound {
  readonly generationId: string;
  /** Holds of the same request that this one takes the place of, in one step: nobody else gets what they held. */
  readonly instead?: readonly Hold[];
  /** What is asked of the gate once the money is held, where both are one step. Absent: nothing. */
  readonly pass?: PassAsked;
}

/** Money that is set aside for one request, until it is settled or released. */
export interface Hold {
  readonly id: string;
  readonly counted: readonly CountedLimit[];
  /** What the gate said. Absent: it was not asked. */
  readonly passed?: PassAnswer;
}

interface CountedLimit {
  readonly limit: SpendLimit;
  /** Under which it is counted. */
  readonly name: string;
  readonly sinceMs: number;
}

/**
 * Money in two phases: set aside before the first attempt, settled by what was used. What is spent and what is held is
 * known to all processes that share a state. @source decisions.md 22
 */
export interface Ledger {
  /**
   * Before anything else is looked at: whether something is left at all. `undefined`, at once, for callers whom nothing
   * limits. Holds nothing; what others hold may come free and does not count.
   * @throws GatewayError 402 or 403 when a limit is used up; 503 while what was spent cannot be told
   * @source areas.md 0.2, decisions.md 18
   */
  admit(principal: Principal, limits: readonly SpendLimit[]): Promise<void> | undefined;
  /**
   * `undefined`, at once, for callers whom nothing limits.
   * @param limits bounds on the caller's spending beside the account's credit, in the order in which they are checked
   * @throws GatewayError 402 or 403 when too little is left; 503 while what was spent cannot be told
   */
  reserve(principal: Principal, limits: readonly SpendLimit[], wish: () => Wish): Promise<Hold> | undefined;
  /** Whether anything limits what the caller may spend. */
  isLimited(limits: readonly SpendLimit[]): boolean;
  /** After the charge, which may be nothing, is durable: counts it, once, and frees what is left. Never rejects. */
  settle(hold: Hold, charge: Spent): Promise<void>;
  /** Frees what is held: nothing was used of it, or another hold took its place. Never rejects. */
  release(hold: Hold): Promise<void>;
}

export interface LedgerParts {
  readonly holds: Holds;
  readonly clock: Clock;
  /** The durable sum since then, Unix ms. */
  readonly readSpent: (subject: string, sinceMs: number) => Promise<Spent>;
  /** The sum of all entries of the account, nano-USD. Absent: credit is not enforced. */
  readonly readBalance?: (accountId: string) => Promise<number>;
  /** Longer than any request lasts: what a process held that died ends by itself. */
  readonly holdMs: number;
  /** The state could not be told; the hold ends by itself. */
  readonly onFailed: (error: unknown) => void;
}

/** A database that does not answer within this time is away. */
const READ_MS_MAX = 1_000;
/** Something must be left of a limit even for what is free; an account may be at 0. @source areas.md 0.2, 3 and 4 */
const LEFT_NANO_USD_MIN = 1;

export function createLedger(parts: LedgerParts): Ledger {
  const { holds, onFailed } = parts;
  const isLimited = (limits: readonly SpendLimit[]): boolean => limits.length > 0 || parts.readBalance !== undefined;
  return {
    isLimited,
    admit: (principal, limits) => (isLimited(limits) ? admit(parts, principal, limits) : undefined),
    reserve: (principal, limits, wish) => (isLimited(limits) ? reserve(parts, principal, limits, wish()) : undefined),
    async settle({ id, counted }, charge) {
      const charges = counted.map(({ name, limit }) => ({ subject: name, nanoUsd: countedSpend(limit, charge) }));
      await holds.settle(id, charges).catch(onFailed);
    },
    async release({ id }) {
      await holds.release(id).catch(onFailed);
    },
  };
}

/** All that is asked is that something is left. */
const NOTHING: CostBound = {
  worst: { ownNanoUsd: 0, byokNanoUsd: 0 },
  isOpenEnded: true,
  affordableTokens: () => 0,
};

async function admit(parts: LedgerParts, principal: Principal, limits: readonly SpendLimit[]): Promise<void> {
  const byName = countedLimits(parts, principal, limits);
  const allowances = [...byName.values()].map((each) => allowanceOf(each, NOTHING));
  await ask(parts, principal, byName, NOTHING, (load) => parts.holds.check(allowances, load));
}

async function reserve(
  parts: LedgerParts,
  principal: Principal,
  limits: readonly SpendLimit[],
  wish: Wish,
): Promise<Hold> {
  const byName = countedLimits(parts, principal, limits);
  const counted = [...byName.values()];
  const { generationId: id, pass } = wish;
  const asked = {
    id,
    expiresInMs: parts.holdMs,
    allowances: counted.map((each) => allowanceOf(each, wish)),
    ...(wish.instead !== undefined && { instead: wish.instead.map((hold) => hold.id) }),
    ...(pass !== undefined && { pass }),
  };
  const { passed } = await ask(parts, principal, byName, wish, (load) => parts.holds.reserve(asked, load));
  return { id, counted, ...(passed !== undefined && { passed }) };
}

function countedLimits(
  { clock, readBalance }: LedgerParts,
  principal: Principal,
  limits: readonly SpendLimit[],
): ReadonlyMap<string, CountedLimit> {
  return strictestByName(readBalance === undefined ? limits : [balanceOf(principal), ...limits], clock.nowMs());
}

/** @throws GatewayError 402, 403 or 503 */
async function ask(
  parts: LedgerParts,
  principal: Principal,
  byName: ReadonlyMap<string, CountedLimit>,
  wish: CostBound,
  decide: (load: LoadSpent) => Promise<Reservation>,
): Promise<Extract<Reservation, { ok: true }>> {
  const decided = await decide((name) => readSpent(parts, principal, byName.get(name))).catch((error: unknown) => {
    throw error instanceof HoldsBusy ? cannotTell(error) : error;
  });
  if (decided.ok) return decided;
  const refused = byName.get(decided.subject);
  assert(refused !== undefined, 'a refusal names one of the limits');
  throw refusal(refused.limit, wish, decided.leftNanoUsd, decided.heldByOthersNanoUsd);
}

/** A key's own limit and one that a guardrail gives it may count the same: together they are the lower one. */
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

/** Credit is what was granted and not spent: a limit of nothing on what is owed. */
function balanceOf({ accountId }: Principal): SpendLimit {
  return { subject: `account:${accountId}`, kind: 'account', limitNanoUsd: 0, reset: null, includesByok: false };
}

function allowanceOf({ limit, name }: CountedLimit, wish: CostBound): Allowance {
  const leftMin = limit.kind === 'account' ? 0 : LEFT_NANO_USD_MIN;
  const want = Math.max(countedSpend(limit, wish.worst), leftMin);
  const spent = wish.spent === undefined ? 0 : countedSpend(limit, wish.spent);
  return {
    subject: name,
    limitNanoUsd: limit.limitNanoUsd,
    wantNanoUsd: want,
    minNanoUsd: wish.isOpenEnded ? Math.min(want, spent + LEFT_NANO_USD_MIN) : want,
  };
}

async function readSpent(parts: LedgerParts, principal: Principal, asked: CountedLimit | undefined): Promise<number> {
  assert(asked !== undefined, 'only what is limited is read');
  const { limit, sinceMs } = asked;
  try {
    if (limit.kind === 'account' && parts.readBalance !== undefined)
      return -(await withinTime(parts.readBalance(principal.accountId), READ_MS_MAX));
    return countedSpend(limit, await withinTime(parts.readSpent(limit.subject, sinceMs), READ_MS_MAX));
  } catch (cause) {
    throw cannotTell(cause);
  }
}

function cannotTell(cause: unknown): GatewayError {
  return new GatewayError('provider_overloaded', 'What was spent cannot be checked at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}

const WINDOW_WORD = { daily: 'daily ', weekly: 'weekly ', monthly: 'monthly ' } as const;

function refusal(limit: SpendLimit, wish: CostBound, leftNanoUsd: number, heldNanoUsd: number): GatewayError {
  const isPayment = limit.kind === 'key' || limit.kind === 'account';
  const message = `${whatLacks(limit, leftNanoUsd + heldNanoUsd)} ${whatHelps(limit, wish, leftNanoUsd, heldNanoUsd)}`;
  // What others hold comes free when they end.
  const wouldFit = leftNanoUsd + heldNanoUsd >= countedSpend(limit, wish.worst) && heldNanoUsd > 0;
  return new GatewayError(isPayment ? 'payment_required' : 'permission_denied', message, {
    lacksFunds: true,
    ...(wouldFit && { retryAfterMs: 1_000 }),
  });
}

/** The interval is named, that of a workspace also where it has no end. @source areas.md 0.2 item 5 */
function whatLacks(spendLimit: SpendLimit, leftNanoUsd: number): string {
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

function whatHelps(limit: SpendLimit, wish: CostBound, leftNanoUsd: number, heldNanoUsd: number): string {
  const worst = countedSpend(limit, wish.worst);
  if (leftNanoUsd + heldNanoUsd < LEFT_NANO_USD_MIN) {
    if (limit.kind === 'account') return 'Add credit.';
    return `Raise the ${nounOf(limit)}${limit.reset === null ? '' : ', or wait for it to begin anew'}.`;
  }
  const held = heldNanoUsd > 0 ? ` Requests under way hold ${exactUsd(heldNanoUsd)} USD of it.` : '';
  const tokens = wish.isOpenEnded ? 0 : wish.affordableTokens(Math.max(0, leftNanoUsd));
  const affordable = tokens > 0 ? ` Set max_tokens to ${tokens} or less.` : '';
  return `The request may cost up to ${exactUsd(worst)} USD.${held}${affordable}`;
}
