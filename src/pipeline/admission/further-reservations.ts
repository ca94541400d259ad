import type { Reservation, Ledger, BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { SpendLimit } from '../../accounts/limits/spend-limit.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';

const CANNOT_TELL = 503;

type ReservingLedger = Pick<Ledger, 'reserve' | 'release'>;

/** The request that they belong to. */
interface ReservationOwner {
  readonly id: string;
  readonly principal: Principal;
}

/**
 * What is reserved beside the first reservation of a request: money for another endpoint that continues a response, and for
 * fees. A class because it lives as long as its request, and most requests never reserve anything here.
 */
export class FurtherReservations {
  readonly #ledger: ReservingLedger;
  readonly #owner: ReservationOwner;
  readonly #open: Reservation[] = [];
  #requestedCount = 0;
  #isOver = false;

  constructor(ledger: ReservingLedger, owner: ReservationOwner) {
    this.#ledger = ledger;
    this.#owner = owner;
  }

  /** The charge is being settled: what is reserved from now on is released at once. */
  end(): void {
    this.#isOver = true;
  }

  /** After the charge of the whole request was settled with the first reservation. Never rejects. */
  async release(): Promise<void> {
    this.#isOver = true;
    if (this.#open.length > 0) await this.#releaseAll(this.#open.splice(0));
  }

  /** A reservation to settle the charge with, where the request ended before it had one of its own. */
  take(): Reservation | undefined {
    return this.#open.shift();
  }

  /** Reserves a fee that comes before the request is served. @throws GatewayError 402 or 403 */
  async fund(limits: readonly SpendLimit[], nanoUsdMax: number): Promise<void> {
    const worst = { ownNanoUsd: nanoUsdMax, byokNanoUsd: 0 };
    const generationId = this.#nextId();
    const input = { generationId, worst, affordableTokens: () => 0 };
    const reservation = await this.#ledger.reserve(this.#owner.principal, limits, () => input);
    if (reservation === undefined) return;
    if (this.#isOver) await this.#ledger.release(reservation);
    else this.#open.push(reservation);
  }

  /**
   * Moves the reservations of a request that goes on: what it has cost by now, and what comes next, in place of all that was
   * reserved before, in one step. Where too little is left they stay, for what it has cost.
   * @param before `undefined`: nothing limits the caller, and nothing is reserved
   * @returns `undefined` when too little is left
   * @throws GatewayError 503 while the state cannot be read
   */
  async move(
    before: Reservation | undefined,
    limits: readonly SpendLimit[],
    estimate: () => BudgetEstimate,
  ): Promise<{ readonly reservation: Reservation | undefined } | undefined> {
    if (before === undefined) return { reservation: undefined };
    const instead = [before, ...this.#open];
    const moved = await this.#replace(instead, limits, estimate);
    if (moved === undefined) return undefined;
    this.#open.length = 0;
    // What they reserved of limits that no longer apply: a day may be over meanwhile.
    await this.#releaseAll(instead);
    return { reservation: moved };
  }

  /**
   * More in place of one reservation; the others stay. Where too little is left it stays too.
   * @returns `undefined` when too little is left, or the request is over
   * @throws GatewayError 503 while the state cannot be read
   */
  async extend(
    before: Reservation,
    limits: readonly SpendLimit[],
    estimate: () => BudgetEstimate,
  ): Promise<Reservation | undefined> {
    if (this.#isOver) return undefined;
    const extended = await this.#replace([before], limits, estimate);
    // The answer need not wait for that.
    if (extended !== undefined) void this.#ledger.release(before);
    return extended;
  }

  async #replace(
    instead: readonly Reservation[],
    limits: readonly SpendLimit[],
    estimate: () => BudgetEstimate,
  ): Promise<Reservation | undefined> {
    const generationId = this.#nextId();
    try {
      const next = (): BudgetEstimate => ({ ...estimate(), generationId, instead });
      const reservation = await this.#ledger.reserve(this.#owner.principal, limits, next);
      if (!this.#isOver) return reservation;
      // The charge was settled with the reservation before: nothing else would end this one.
      if (reservation !== undefined) await this.#ledger.release(reservation);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status === CANNOT_TELL) throw error;
    }
    return undefined;
  }

  /** Whether there is money for one more. Nothing is reserved where nothing limits the caller. */
  async add(limits: readonly SpendLimit[], estimate: () => BudgetEstimate): Promise<boolean> {
    if (this.#isOver) return false;
    const generationId = this.#nextId();
    try {
      const reservation = await this.#ledger.reserve(this.#owner.principal, limits, () => ({
        ...estimate(),
        generationId,
      }));
      if (reservation !== undefined) this.#open.push(reservation);
    } catch (error) {
      // Too little is left, or what is left cannot be read: the response ends where it broke off.
      if (error instanceof GatewayError) return false;
      throw error;
    }
    // The request may have ended meanwhile.
    if (this.#isOver) await this.release();
    return !this.#isOver;
  }

  #nextId(): string {
    return `${this.#owner.id}:${++this.#requestedCount}`;
  }

  async #releaseAll(reservations: readonly Reservation[]): Promise<void> {
    await Promise.all(reservations.map((reservation) => this.#ledger.release(reservation)));
  }
}
