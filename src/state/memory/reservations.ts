import type { Clock } from '../../lib/clock.ts';
import {
  ReservationsBusy,
  type Allowance,
  type Charge,
  type ReservationRequest,
  type Reservations,
  type LoadSpent,
  type ReservationResult,
} from '../contract.ts';
import { ROUNDS_MAX, SPENT_LIFE_MS } from '../reservation-bounds.ts';
import { degreeOf, takenAt, takenOf } from '../shares.ts';
import { strictestAllowances } from '../strictest-allowances.ts';

/** Open reservations: more than this are more requests than one process can run. */
const RESERVATIONS_MAX = 50_000;
/** Subjects that are remembered; the sum of a forgotten one is read again. */
const SUBJECTS_MAX = 50_000;

/** A durable sum, and what was settled since. */
interface Spent {
  nanoUsd: number;
  readonly untilMs: number;
  /** When the sum was read, by the count of all events. */
  readonly readAt: number;
  /** The sum may hold a charge twice: one that was durable when the sum was read, and was settled after. */
  isDoubtful: boolean;
}

interface Subject {
  spent: Spent | undefined;
  reservedNanoUsd: number;
  holds: number;
  /** Everything that was settled since the subject is remembered. */
  settledNanoUsd: number;
  /** Changes when a sum that is being read has become outdated. */
  version: number;
  loading: Promise<void> | undefined;
}

interface Reservation {
  readonly reserved: ReadonlyMap<string, number>;
  readonly expiresAtMs: number;
  readonly openedAt: number;
}

/** A reservation that was not released and has not expired. */
export interface OpenReservation {
  readonly reserved: ReadonlyMap<string, number>;
  /** The time until it expires. */
  readonly leftMs: number;
}

/** Reservations of one process, which may also count reservations that this process has elsewhere. */
export interface LocalReservations extends Reservations {
  /** Counts a reservation that was made elsewhere. */
  adopt(id: string, reserved: ReadonlyMap<string, number>, expiresInMs: number): void;
  openIds(): readonly string[];
  /** Finds an open reservation; `undefined`: it is not open any more. */
  find(id: string): OpenReservation | undefined;
}

export interface MemoryReservationsDeps {
  readonly clock: Clock;
  /** Default: a minute. */
  readonly spentLifeMs?: number;
}

export function createMemoryReservations({
  clock,
  spentLifeMs = SPENT_LIFE_MS,
}: MemoryReservationsDeps): LocalReservations {
  return new MemoryReservations(clock, spentLifeMs);
}

/** Reservations of one process. Every decision is one synchronous step; only reads of sums are awaited. */
class MemoryReservations implements LocalReservations {
  readonly #clock: Clock;
  readonly #spentLifeMs: number;
  readonly #reservations = new Map<string, Reservation>();
  readonly #subjects = new Map<string, Subject>();
  /** No reservation expires earlier. */
  #earliestMs = Infinity;
  /** Counts all events, so that any two of them have an order. */
  #now = 0;

  constructor(clock: Clock, spentLifeMs: number) {
    this.#clock = clock;
    this.#spentLifeMs = spentLifeMs;
  }

  reserve(reservation: ReservationRequest, loadSpent: LoadSpent): Promise<ReservationResult> {
    return this.#ask(reservation.allowances, loadSpent, reservation);
  }

  check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<ReservationResult> {
    return this.#ask(allowances, loadSpent, undefined);
  }

  /** @param reservation opened when there is room for it; without one, others' reservations do not count */
  async #ask(
    allowances: readonly Allowance[],
    loadSpent: LoadSpent,
    reservation: ReservationRequest | undefined,
  ): Promise<ReservationResult> {
    const wanted = strictestAllowances(allowances);
    const loaded = new Set<string>();
    const again = new Set<string>();
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.#endExpired();
      const open = reservation && this.#reservations.get(reservation.id);
      if (open !== undefined) return { ok: true, reservedNanoUsd: open.reserved };
      const unknown = wanted.filter(({ subject }) => this.#spentBy(subject) === undefined);
      if (unknown.length > 0) {
        // A sum that another request had read again has been read again for every request that waits for it.
        for (const { subject } of unknown) (loaded.has(subject) ? again : loaded).add(subject);
        await Promise.all(unknown.map(({ subject }) => this.#load(subject, loadSpent)));
        continue;
      }
      const verdict = this.#decide(wanted, reservation);
      if (verdict.ok) {
        if (reservation !== undefined) this.#begin(reservation, verdict.reservedNanoUsd);
        return verdict;
      }
      const spent = this.#spentBy(verdict.subject);
      const isLast = round === ROUNDS_MAX - 1;
      if (spent?.isDoubtful !== true || again.has(verdict.subject) || isLast) return verdict;
      // A charge that may have been counted twice refuses no request: its sum is read again first.
      again.add(verdict.subject);
      this.#outdate(verdict.subject);
    }
    throw new ReservationsBusy('What was spent changes faster than it can be read.');
  }

  adopt(id: string, reserved: ReadonlyMap<string, number>, expiresInMs: number): void {
    this.#endExpired();
    if (!this.#reservations.has(id) && this.#reservations.size < RESERVATIONS_MAX)
      this.#open(id, reserved, expiresInMs);
  }

  openIds(): readonly string[] {
    this.#endExpired();
    return [...this.#reservations.keys()];
  }

  find(id: string): OpenReservation | undefined {
    const reservation = this.#reservations.get(id);
    const leftMs = reservation === undefined ? 0 : reservation.expiresAtMs - this.#clock.monotonicMs();
    return reservation !== undefined && leftMs > 0 ? { reserved: reservation.reserved, leftMs } : undefined;
  }

  settle(id: string, charges: readonly Charge[]): Promise<void> {
    this.#endExpired();
    const reservation = this.#close(id);
    for (const { subject, nanoUsd } of charges) {
      // Without its reservation it is unknown whether the charge was counted: only the durable sum shows it.
      if (reservation?.reserved.has(subject) === true) this.#count(subject, nanoUsd, reservation.openedAt);
      else this.#outdate(subject);
    }
    return Promise.resolve();
  }

  release(id: string): Promise<void> {
    this.#close(id);
    return Promise.resolve();
  }

  forget(owner: string): Promise<void> {
    for (const subject of this.#subjects.keys())
      if (subject === owner || subject.startsWith(`${owner}:`)) this.#outdate(subject);
    return Promise.resolve();
  }

  #decide(allowances: readonly Allowance[], reservation: ReservationRequest | undefined): ReservationResult {
    const taken: { readonly allowance: Allowance; readonly takenNanoUsd: number; readonly own: number }[] = [];
    let degree = 1;
    for (const allowance of allowances) {
      const { subject, limitNanoUsd, minNanoUsd } = allowance;
      const reservedByOthersNanoUsd = reservation === undefined ? 0 : this.#heldBeside(reservation, subject);
      const leftNanoUsd = limitNanoUsd - (this.#spentBy(subject)?.nanoUsd ?? 0) - reservedByOthersNanoUsd;
      const takenNanoUsd = takenOf(allowance, leftNanoUsd);
      if (takenNanoUsd < minNanoUsd) return { ok: false, subject, leftNanoUsd, reservedByOthersNanoUsd };
      const own = degreeOf(allowance, takenNanoUsd);
      degree = Math.min(degree, own);
      taken.push({ allowance, takenNanoUsd, own });
    }
    const reservedNanoUsd = new Map<string, number>();
    for (const { allowance, ...one } of taken)
      reservedNanoUsd.set(allowance.subject, takenAt(allowance, { degree, ...one }));
    return { ok: true, reservedNanoUsd };
  }

  #heldBeside({ instead = [] }: ReservationRequest, subject: string): number {
    let reserved = this.#subjects.get(subject)?.reservedNanoUsd ?? 0;
    for (const id of instead) reserved -= this.#reservations.get(id)?.reserved.get(subject) ?? 0;
    return reserved;
  }

  #begin({ id, expiresInMs, instead = [] }: ReservationRequest, reserved: ReadonlyMap<string, number>): void {
    if (this.#reservations.size >= RESERVATIONS_MAX) throw new ReservationsBusy('Too many requests are under way.');
    for (const other of instead) this.#close(other);
    this.#open(id, reserved, expiresInMs);
  }

  #open(id: string, reserved: ReadonlyMap<string, number>, expiresInMs: number): void {
    const expiresAtMs = this.#clock.monotonicMs() + expiresInMs;
    this.#reservations.set(id, { reserved, expiresAtMs, openedAt: ++this.#now });
    this.#earliestMs = Math.min(this.#earliestMs, expiresAtMs);
    for (const [subject, nanoUsd] of reserved) {
      const state = this.#remember(subject);
      state.reservedNanoUsd += nanoUsd;
      state.holds++;
    }
  }

  /** Removes and returns a reservation; `undefined` when there was none. */
  #close(id: string): Reservation | undefined {
    const reservation = this.#reservations.get(id);
    if (reservation === undefined) return undefined;
    this.#reservations.delete(id);
    for (const [subject, nanoUsd] of reservation.reserved) {
      const state = this.#subjects.get(subject);
      if (state === undefined) continue;
      state.reservedNanoUsd -= nanoUsd;
      state.holds--;
    }
    return reservation;
  }

  #endExpired(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#earliestMs) return;
    this.#earliestMs = Infinity;
    for (const [id, { expiresAtMs }] of this.#reservations)
      if (expiresAtMs <= nowMs) this.#close(id);
      else this.#earliestMs = Math.min(this.#earliestMs, expiresAtMs);
  }

  #spentBy(subject: string): Spent | undefined {
    const spent = this.#subjects.get(subject)?.spent;
    return spent !== undefined && this.#clock.monotonicMs() < spent.untilMs ? spent : undefined;
  }

  #count(subject: string, nanoUsd: number, openedAt: number): void {
    const state = this.#subjects.get(subject);
    if (state === undefined) return;
    state.settledNanoUsd += nanoUsd;
    if (state.spent === undefined) return;
    state.spent.nanoUsd += nanoUsd;
    // A sum from before the reservation cannot include the charge; a later one may.
    if (state.spent.readAt >= openedAt) state.spent.isDoubtful = true;
  }

  #outdate(subject: string): void {
    const state = this.#subjects.get(subject);
    if (state === undefined) return;
    state.spent = undefined;
    state.version = ++this.#now;
    state.loading = undefined;
  }

  /** Reads a sum; concurrent requests share one read. */
  #load(subject: string, loadSpent: LoadSpent): Promise<void> {
    const state = this.#remember(subject);
    const loading = (state.loading ??= this.#read(subject, state, loadSpent).finally(() => {
      if (state.loading === loading) state.loading = undefined;
    }));
    return loading;
  }

  /**
   * Reads a sum and adds what was settled meanwhile. The sum may include that already: it is too high rather than too
   * low.
   */
  async #read(subject: string, state: Subject, loadSpent: LoadSpent): Promise<void> {
    const { version, settledNanoUsd } = state;
    const sum = await loadSpent(subject);
    if (state.version !== version) return;
    const meanwhile = state.settledNanoUsd - settledNanoUsd;
    state.spent = {
      nanoUsd: sum + meanwhile,
      untilMs: this.#clock.monotonicMs() + this.#spentLifeMs,
      readAt: ++this.#now,
      isDoubtful: meanwhile !== 0,
    };
  }

  #remember(subject: string): Subject {
    const state = this.#subjects.get(subject) ?? {
      spent: undefined,
      reservedNanoUsd: 0,
      holds: 0,
      settledNanoUsd: 0,
      version: ++this.#now,
      loading: undefined,
    };
    this.#subjects.delete(subject);
    this.#subjects.set(subject, state);
    this.#forgetIdle();
    return state;
  }

  /** Forgets subjects beyond the bound that have no reservations; there are fewer others than reservations. */
  #forgetIdle(): void {
    let excess = this.#subjects.size - SUBJECTS_MAX;
    if (excess <= 0) return;
    for (const [subject, { holds, loading }] of this.#subjects) {
      if (excess <= 0) return;
      if (holds > 0 || loading !== undefined) continue;
      this.#subjects.delete(subject);
      excess--;
    }
  }
}
