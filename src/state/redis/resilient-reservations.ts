import { createLruCache, entriesOf } from '../../lib/cache/lru-cache.ts';
import type { Allowance, Charge, ReservationRequest, Reservations, LoadSpent, ReservationResult } from '../contract.ts';
import type { RunStep } from './step-pipeline.ts';
import type { LocalReservations } from '../memory/reservations.ts';
import { endedBy, type Ended, type RedisReservations } from './reservations.ts';
import { RedisAway, type RedisLink } from './link.ts';

/** Reservations of this process whose subjects are remembered; further ones expire by themselves. */
const OPEN_MAX = 50_000;
/** Changes to report when Redis is back. Without the rest, sums heal when reservations and sums expire. */
const UNREPORTED_MAX = 10_000;
/** Changes to report in one call. */
const REPORTED_AT_ONCE = 200;

/**
 * Reservations in Redis; while it is away, in this process, which then counts by itself: it knows its own reservations,
 * here and there, and the durable sums have what was settled, but it does not know reservations of other processes.
 * When Redis is back, the process first reports what ended meanwhile and what is reserved here, before any request here
 * relies on Redis.
 */
export class ResilientReservations implements Reservations {
  readonly #shared: RedisReservations;
  readonly #local: LocalReservations;
  readonly #link: RedisLink;
  readonly #open = createLruCache<string, readonly string[]>(OPEN_MAX);
  readonly #endings = createLruCache<string, readonly Ended[]>(UNREPORTED_MAX);
  /** Open reservations that Redis may not have. */
  readonly #unreported = createLruCache<string, true>(OPEN_MAX);
  /** A return that takes longer than the connection's time limit continues where it was. */
  #isReturning = false;
  #catchingUp: Promise<void> | undefined;

  constructor(shared: RedisReservations, local: LocalReservations, link: RedisLink) {
    this.#shared = shared;
    this.#local = local;
    this.#link = link;
    link.onBack((_client, run) => this.#reportAll(run));
  }

  async reserve(request: ReservationRequest, loadSpent: LoadSpent): Promise<ReservationResult> {
    const { id, allowances } = request;
    const subjects = [...new Set(allowances.map(({ subject }) => subject))];
    try {
      if (this.#isBehind()) await this.#catchUp();
      const answer = await this.#shared.reserve(request, loadSpent);
      if (!answer.ok) return answer;
      this.#open.set(id, subjects);
      this.#local.adopt(id, answer.reservedNanoUsd, request.expiresInMs);
      return answer;
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      if (error.mayBeDone) this.#reportLater(id, endedBy(subjects, []));
    }
    const answer = await this.#local.reserve(request, loadSpent);
    if (!answer.ok) return answer;
    this.#open.set(id, subjects);
    // The report replaces whatever Redis may have made of it.
    this.#endings.delete(id);
    this.#unreported.set(id, true);
    if (this.#link.isUp) await this.#catchUp().catch(unlessAway);
    return answer;
  }

  async check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<ReservationResult> {
    try {
      if (this.#isBehind()) await this.#catchUp();
      return await this.#shared.check(allowances, loadSpent);
    } catch (error) {
      unlessAway(error);
      return this.#local.check(allowances, loadSpent);
    }
  }

  settle(id: string, charges: readonly Charge[]): Promise<void> {
    return this.#end(id, charges, () => this.#local.settle(id, charges));
  }

  release(id: string): Promise<void> {
    return this.#end(id, [], () => this.#local.release(id));
  }

  async forget(owner: string): Promise<void> {
    await this.#local.forget(owner);
    try {
      await this.#shared.forget(owner);
    } catch (error) {
      // Sums expire by themselves, sooner than most outages end.
      unlessAway(error);
    }
  }

  async #end(id: string, charges: readonly Charge[], endLocally: () => Promise<void>): Promise<void> {
    const subjects = this.#open.get(id) ?? [];
    this.#open.delete(id);
    this.#unreported.delete(id);
    const ended = endedBy(subjects, charges);
    // Also here: a sum that was read while Redis was away does not include the charge.
    await endLocally();
    try {
      // Redis does not have a reservation that was made here, so it reads its sums again.
      await this.#shared.finish(id, ended);
    } catch (error) {
      unlessAway(error);
      this.#reportLater(id, ended);
    }
  }

  #reportLater(id: string, ended: readonly Ended[]): void {
    if (ended.length > 0) this.#endings.set(id, ended);
  }

  /** Reports everything, whatever Redis remembers: it may have started empty. */
  async #reportAll(run: RunStep): Promise<void> {
    if (!this.#isReturning) for (const id of this.#local.openIds()) this.#unreported.set(id, true);
    this.#isReturning = true;
    await this.#notify(run);
    this.#isReturning = false;
  }

  #isBehind(): boolean {
    return this.#endings.size > 0 || this.#unreported.size > 0;
  }

  /** Reports what happened between the last report on the return of Redis and its first command. */
  async #catchUp(): Promise<void> {
    // As one call, so that one time limit covers all of it.
    const report = (): Promise<void> => this.#notify(this.#link.run);
    this.#catchingUp ??= this.#link.call(report).finally(() => (this.#catchingUp = undefined));
    await this.#catchingUp;
  }

  /** Reports once everything that is known now; later changes are reported before the next request. */
  async #notify(run: RunStep): Promise<void> {
    for (const some of inParts(entriesOf(this.#endings))) {
      await Promise.all(some.map(([id, ended]) => this.#shared.finish(id, ended, run)));
      for (const [id, ended] of some) if (this.#endings.peek(id) === ended) this.#endings.delete(id);
    }
    for (const some of inParts([...this.#unreported.rkeys()])) {
      await Promise.all(some.map((id) => this.#reportOpen(run, id)));
      for (const id of some) this.#unreported.delete(id);
    }
  }

  async #reportOpen(run: RunStep, id: string): Promise<void> {
    const reservation = this.#local.find(id);
    if (reservation !== undefined) await this.#shared.adopt(id, reservation, run);
  }
}

function unlessAway(error: unknown): void {
  if (!(error instanceof RedisAway)) throw error;
}

function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += REPORTED_AT_ONCE) yield items.slice(at, at + REPORTED_AT_ONCE);
}
