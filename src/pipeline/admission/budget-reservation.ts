import { roomOf, type Reservation, type Ledger, type Room, type BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { PendingPermit, RequestPermit, RatedRequest, RateLimiter } from '../../accounts/limits/rate-limits.ts';
import type { SpendLimit, Spent } from '../../accounts/limits/spend-limit.ts';
import type { Usage } from '../../canonical/usage.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { OpenEnded, RouteEstimate } from '../billing/route-estimate.ts';
import { FurtherReservations } from './further-reservations.ts';

export interface BudgetReservationDeps {
  readonly ledger: Ledger;
  readonly rateLimiter: RateLimiter;
}

type Rated = Pick<RatedRequest, 'promptTokens' | 'isFree'>;

/** Settles the reservations with the charge, and ends the permits. Never rejects. */
export type Release = (charge: Spent, usage: Usage | undefined) => Promise<void>;

const NOTHING_MOVES: Promise<void> = Promise.resolve();
const NOTHING_SPENT: Spent = { ownNanoUsd: 0, byokNanoUsd: 0 };

/** What is reserved for one turn of a response without a maximum, and for what came before it. */
export interface TurnBudget extends OpenEnded {
  readonly spent: Spent;
  /** As far as the last reservation of the turn goes. */
  readonly room: () => Room;
}

/** What one request holds of its caller's limits, until its charge is settled. */
export class BudgetReservation {
  readonly #deps: BudgetReservationDeps;
  readonly #principal: Principal;
  readonly #log: Pick<RequestLog, 'id' | 'requestId'>;
  #limits: readonly SpendLimit[] = [];
  #reservation: Reservation | undefined;
  #permit: RequestPermit | undefined;
  #further: FurtherReservations | undefined;
  #isOver = false;
  /** Each reservation takes the place of the one before: they are made one after the other. */
  #moving: Promise<unknown> = NOTHING_MOVES;
  /** The number of those that are being made. */
  #moves = 0;
  #turn: { readonly budget: TurnBudget; reservation: Reservation } | undefined;
  readonly #place: RequestPermit | undefined;
  readonly #isCounted: boolean;

  /**
   * @param place the permit that the request has already; it ends with the rest
   * @param isCounted it counted as a request when it was accepted
   */
  constructor(
    deps: BudgetReservationDeps,
    principal: Principal,
    log: Pick<RequestLog, 'id' | 'requestId'>,
    place?: RequestPermit,
    isCounted = false,
  ) {
    this.#deps = deps;
    this.#principal = principal;
    this.#place = place;
    this.#isCounted = isCounted;
    this.#log = log;
  }

  /** Most requests never reserve anything there. */
  get further(): FurtherReservations {
    if (this.#further === undefined) {
      this.#further = new FurtherReservations(this.#deps.ledger, { id: this.#log.id, principal: this.#principal });
      if (this.#isOver) this.#further.end();
    }
    return this.#further;
  }

  /** Of the turn that runs now. `undefined`: nothing limits the caller, or the response has a maximum. */
  get budget(): TurnBudget | undefined {
    return this.#turn?.budget;
  }

  /** Takes the permit of the rate limits, once a request. @throws GatewayError 429 */
  async takePermit(request: Rated): Promise<void> {
    this.#permit ??= await this.#pending(request)?.acquire();
  }

  /**
   * Reserves the money, then takes the permit: a request without the money uses up no permit. A shared state does both in
   * one call. @returns `undefined`, at once, where nothing limits the caller
   * @throws GatewayError 402, 403 or 429; as a rejection, or at once where the cost cannot be estimated
   */
  reserve(limits: readonly SpendLimit[], estimate: () => RouteEstimate, request: Rated): Promise<void> | undefined {
    const pending = this.#permit === undefined ? this.#pending(request) : undefined;
    let reserved: RouteEstimate | undefined;
    this.#limits = limits;
    const reserving = this.#deps.ledger.reserve(this.#principal, limits, () => {
      reserved = estimate();
      return pending === undefined ? reserved : { ...reserved, permit: pending.requested };
    });
    if (reserving === undefined && pending === undefined) return undefined;
    return this.#take(reserving, () => reserved, pending);
  }

  async #take(
    reserving: Promise<Reservation> | undefined,
    reserved: () => RouteEstimate | undefined,
    pending: PendingPermit | undefined,
  ): Promise<void> {
    this.#reservation = await reserving;
    this.#begin(reserved());
    if (pending !== undefined) this.#permit = await pending.acquire(this.#reservation?.permitted);
  }

  #pending(request: Rated): PendingPermit | undefined {
    const { id, requestId } = this.#log;
    return this.#deps.rateLimiter.admit(this.#principal, {
      generationId: id,
      isNested: requestId !== id,
      hasPlace: this.#place !== undefined,
      ...(this.#isCounted && { isCounted: true }),
      promptTokens: request.promptTokens,
      isFree: request.isFree,
    });
  }

  /** Reserves what the request has cost by now and what comes next, in place of what is reserved. `false`: too little is left. */
  move(limits: readonly SpendLimit[], next: () => RouteEstimate): Promise<boolean> {
    return this.#inTurn(async () => {
      let estimate: RouteEstimate | undefined;
      this.#limits = limits;
      const moved = await this.further.move(this.#reservation, limits, () => (estimate = next()));
      if (moved === undefined) return false;
      this.#reservation = moved.reservation;
      this.#begin(estimate);
      return true;
    });
  }

  /**
   * Reserves more for the turn, in place of what is reserved for it. `false`: nothing more is left, or the turn is over.
   * @throws GatewayError 503 while the state cannot be read
   */
  extend(budget: TurnBudget, next: () => BudgetEstimate): Promise<boolean> {
    return this.#inTurn(async () => {
      const turn = this.#turn;
      if (turn?.budget !== budget) return false;
      const extended = await this.further.extend(turn.reservation, this.#limits, next);
      if (extended === undefined) return false;
      this.#reservation = extended;
      turn.reservation = extended;
      return true;
    });
  }

  /** The charge is being settled: what is reserved from now on is released at once. @returns `undefined`: there is nothing to release */
  close(): Release | undefined {
    const reservation = this.#moves === 0 ? this.#last() : this.#moving.then(() => this.#last());
    const [place, permit] = [this.#place, this.#permit];
    if (reservation === undefined && place === undefined && permit === undefined) return undefined;
    return async (charge, usage) => {
      const last = reservation instanceof Promise ? await reservation : reservation;
      // Concurrently, so that a shared state gets one call.
      await Promise.all([last && this.#deps.ledger.settle(last, charge), place?.ended(usage), permit?.ended(usage)]);
      await this.#further?.release();
    };
  }

  /** The request is answered and its job goes on: places are free, what is reserved stays so until the job ends. */
  async handOver(): Promise<void> {
    await Promise.all([this.#place?.ended(undefined), this.#permit?.ended(undefined)]);
  }

  /** The reservation that the charge is settled with. */
  #last(): Reservation | undefined {
    this.#isOver = true;
    this.#further?.end();
    return this.#reservation ?? this.#further?.take();
  }

  #begin(estimate: RouteEstimate | undefined): void {
    this.#turn = undefined;
    if (this.#reservation === undefined || estimate?.openEnded === undefined) return;
    const { openEnded, spent = NOTHING_SPENT } = estimate;
    const turn = {
      reservation: this.#reservation,
      budget: { ...openEnded, spent, room: () => roomOf(turn.reservation, spent) },
    };
    this.#turn = turn;
  }

  #inTurn<Value>(task: () => Promise<Value>): Promise<Value> {
    this.#moves++;
    const run = this.#moving.then(task).finally(() => this.#moves--);
    this.#moving = run.catch(() => undefined);
    return run;
  }
}
