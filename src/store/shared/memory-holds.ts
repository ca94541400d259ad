import { setBounded } from '../../lib/bounded-map.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Allowance, Charge, HoldRequest, Holds, LoadSpent, Reservation } from './contract.ts';
import { ROUNDS_MAX, SPENT_LIFE_MS } from './holds-bounds.ts';
import { HoldsBusy } from './holds-busy.ts';
import { strictest } from './strictest.ts';

/** Open holds: more than this are more requests than a process can have under way. */
const HOLDS_MAX = 50_000;
/** Subjects that are remembered; one that is forgotten is read again. */
const SUBJECTS_MAX = 50_000;

/** A durable sum, and what was settled since. */
interface Spent {
  nanoUsd: number;
  readonly untilMs: number;
  /** When it was read, by the count of everything that happens. */
  readonly readAt: number;
  /** It may hold a charge twice: one that was durable when the sum was read, and was settled after. */
  isDoubtful: boolean;
}

interface Subject {
  spent: Spent | undefined;
  heldNanoUsd: number;
  holds: number;
  /** Everything that was settled since the subject is remembered. */
  settledNanoUsd: number;
  /** Changes when a sum that is being read has become worthless. */
  version: number;
  loading: Promise<void> | undefined;
}

interface Hold {
  readonly held: ReadonlyMap<string, number>;
  readonly expiresAtMs: number;
  readonly openedAt: number;
}

/** A hold that has neither been ended nor ended by itself. */
export interface OpenHold {
  readonly held: ReadonlyMap<string, number>;
  /** Until it ends by itself. */
  readonly leftMs: number;
}

/** Holds of one process, which may also know of holds that this process has elsewhere. */
export interface LocalHolds extends Holds {
  /** A hold that was made elsewhere is counted here too. */
  adopt(id: string, held: ReadonlyMap<string, number>, expiresInMs: number): void;
  openIds(): readonly string[];
  /** `undefined`: it is open no more. */
  find(id: string): OpenHold | undefined;
}

export interface MemoryHoldsParts {
  readonly clock: Clock;
  /** Default: a minute. */
  readonly spentLifeMs?: number;
}

export function createMemoryHolds({ clock, spentLifeMs = SPENT_LIFE_MS }: MemoryHoldsParts): LocalHolds {
  return new MemoryHolds(clock, spentLifeMs);
}

/** Holds of one process. Every decision is one synchronous step; only sums are waited for. */
class MemoryHolds implements LocalHolds {
  readonly #clock: Clock;
  readonly #spentLifeMs: number;
  readonly #holds = new Map<string, Hold>();
  readonly #subjects = new Map<string, Subject>();
  /** No hold ends earlier. */
  #earliestMs = Infinity;
  /** Counts everything that happens, so that of any two things one is known to be the earlier. */
  #now = 0;

  constructor(clock: Clock, spentLifeMs: number) {
    this.#clock = clock;
    this.#spentLifeMs = spentLifeMs;
  }

  reserve(hold: HoldRequest, loadSpent: LoadSpent): Promise<Reservation> {
    return this.#ask(hold.allowances, loadSpent, hold);
  }

  check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<Reservation> {
    return this.#ask(allowances, loadSpent, undefined);
  }

  /** @param hold what is opened when there is room for it; without one what others hold does not count */
  async #ask(
    allowances: readonly Allowance[],
    loadSpent: LoadSpent,
    hold: HoldRequest | undefined,
  ): Promise<Reservation> {
    const wanted = strictest(allowances);
    const loaded = new Set<string>();
    const again = new Set<string>();
    for (let round = 0; round < ROUNDS_MAX; round++) {
      this.#endExpired();
      const open = hold && this.#holds.get(hold.id);
      if (open !== undefined) return { ok: true, heldNanoUsd: open.held };
      const unknown = wanted.filter(({ subject }) => this.#spentBy(subject) === undefined);
      if (unknown.length > 0) {
        // A sum that somebody else had read again has been read again for all who wait for it.
        for (const { subject } of unknown) (loaded.has(subject) ? again : loaded).add(subject);
        await Promise.all(unknown.map(({ subject }) => this.#load(subject, loadSpent)));
        continue;
      }
      const verdict = this.#decide(wanted, hold);
      if (verdict.ok) {
        if (hold !== undefined) this.#begin(hold, verdict.heldNanoUsd);
        return verdict;
      }
      const spent = this.#spentBy(verdict.subject);
      const isLast = round === ROUNDS_MAX - 1;
      if (spent?.isDoubtful !== true || again.has(verdict.subject) || isLast) return verdict;
      // Nobody is refused for a charge that may have been counted twice.
      again.add(verdict.subject);
      this.#outdate(verdict.subject);
    }
    throw new HoldsBusy('What was spent changes faster than it can be read.');
  }

  adopt(id: string, held: ReadonlyMap<string, number>, expiresInMs: number): void {
    this.#endExpired();
    if (!this.#holds.has(id) && this.#holds.size < HOLDS_MAX) this.#open(id, held, expiresInMs);
  }

  openIds(): readonly string[] {
    this.#endExpired();
    return [...this.#holds.keys()];
  }

  find(id: string): OpenHold | undefined {
    const hold = this.#holds.get(id);
    const leftMs = hold === undefined ? 0 : hold.expiresAtMs - this.#clock.monotonicMs();
    return hold !== undefined && leftMs > 0 ? { held: hold.held, leftMs } : undefined;
  }

  settle(id: string, charges: readonly Charge[]): Promise<void> {
    this.#endExpired();
    const hold = this.#close(id);
    for (const { subject, nanoUsd } of charges) {
      // Without its hold nobody knows whether the charge was counted before: only the durable sum does.
      if (hold?.held.has(subject) === true) this.#count(subject, nanoUsd, hold.openedAt);
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

  #decide(allowances: readonly Allowance[], hold: HoldRequest | undefined): Reservation {
    const heldNanoUsd = new Map<string, number>();
    for (const { subject, limitNanoUsd, wantNanoUsd, minNanoUsd } of allowances) {
      const heldByOthersNanoUsd = hold === undefined ? 0 : this.#heldBeside(hold, subject);
      const leftNanoUsd = limitNanoUsd - (this.#spentBy(subject)?.nanoUsd ?? 0) - heldByOthersNanoUsd;
      const taken = Math.min(wantNanoUsd, leftNanoUsd);
      if (taken < minNanoUsd) return { ok: false, subject, leftNanoUsd, heldByOthersNanoUsd };
      heldNanoUsd.set(subject, taken);
    }
    return { ok: true, heldNanoUsd };
  }

  #heldBeside({ instead = [] }: HoldRequest, subject: string): number {
    let held = this.#subjects.get(subject)?.heldNanoUsd ?? 0;
    for (const id of instead) held -= this.#holds.get(id)?.held.get(subject) ?? 0;
    return held;
  }

  #begin({ id, expiresInMs, instead = [] }: HoldRequest, held: ReadonlyMap<string, number>): void {
    if (this.#holds.size >= HOLDS_MAX) throw new HoldsBusy('Too many requests are under way.');
    for (const other of instead) this.#close(other);
    this.#open(id, held, expiresInMs);
  }

  #open(id: string, held: ReadonlyMap<string, number>, expiresInMs: number): void {
    const expiresAtMs = this.#clock.monotonicMs() + expiresInMs;
    this.#holds.set(id, { held, expiresAtMs, openedAt: ++this.#now });
    this.#earliestMs = Math.min(this.#earliestMs, expiresAtMs);
    for (const [subject, nanoUsd] of held) {
      const state = this.#remember(subject);
      state.heldNanoUsd += nanoUsd;
      state.holds++;
    }
  }

  /** The hold, which is no more; `undefined` when there was none. */
  #close(id: string): Hold | undefined {
    const hold = this.#holds.get(id);
    if (hold === undefined) return undefined;
    this.#holds.delete(id);
    for (const [subject, nanoUsd] of hold.held) {
      const state = this.#subjects.get(subject);
      if (state === undefined) continue;
      state.heldNanoUsd -= nanoUsd;
      state.holds--;
    }
    return hold;
  }

  #endExpired(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#earliestMs) return;
    this.#earliestMs = Infinity;
    for (const [id, { expiresAtMs }] of this.#holds)
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
    // A sum from before the hold cannot know the charge; a later one may.
    if (state.spent.readAt >= openedAt) state.spent.isDoubtful = true;
  }

  #outdate(subject: string): void {
    const state = this.#subjects.get(subject);
    if (state === undefined) return;
    state.spent = undefined;
    state.version = ++this.#now;
    state.loading = undefined;
  }

  /** Concurrent requests share one read. */
  #load(subject: string, loadSpent: LoadSpent): Promise<void> {
    const state = this.#remember(subject);
    const loading = (state.loading ??= this.#read(subject, state, loadSpent).finally(() => {
      if (state.loading === loading) state.loading = undefined;
    }));
    return loading;
  }

  /** What is settled meanwhile is added to the sum, which may hold it already: too much rather than too little. */
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
      heldNanoUsd: 0,
      holds: 0,
      settledNanoUsd: 0,
      version: ++this.#now,
      loading: undefined,
    };
    setBounded(this.#subjects, subject, state, Infinity);
    this.#forgetIdle();
    return state;
  }

  /** Of the subjects beyond the bound those that nothing is held of; there are fewer others than holds. */
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
