import { setBounded } from '../../lib/bounded-map.ts';
import type { Allowance, Charge, HoldRequest, Holds, LoadSpent, Reservation } from './contract.ts';
import type { RunStep } from './gathered-steps.ts';
import type { LocalHolds } from './memory-holds.ts';
import { endedBy, type Ended, type RedisHolds } from './redis-holds.ts';
import { RedisAway, type RedisLink } from './redis-link.ts';

/** Holds of this process whose subjects are remembered; one that is not ends by itself. */
const OPEN_MAX = 50_000;
/** What is made up for when Redis is back. What is more heals when its holds and sums end. */
const OWED_MAX = 10_000;
/** So much is told at once. */
const TOLD_AT_ONCE = 200;

/**
 * Holds in Redis; while it is away, in this process, which then counts for itself: it knows what it holds, here and there,
 * and what was settled is in the durable sums, but not what other processes hold. When Redis is back it is told what ended
 * meanwhile and what is held here, before anybody here goes by what it knows.
 */
export class SteadyHolds implements Holds {
  readonly #shared: RedisHolds;
  readonly #local: LocalHolds;
  readonly #link: RedisLink;
  readonly #open = new Map<string, readonly string[]>();
  readonly #owed = new Map<string, readonly Ended[]>();
  /** Open holds that Redis may not know of. */
  readonly #untold = new Map<string, true>();
  /** A return that takes longer than a connection waits for goes on where it was. */
  #isReturning = false;
  #catchingUp: Promise<void> | undefined;

  constructor(shared: RedisHolds, local: LocalHolds, link: RedisLink) {
    this.#shared = shared;
    this.#local = local;
    this.#link = link;
    link.onBack((_client, run) => this.#payBack(run));
  }

  async reserve(request: HoldRequest, loadSpent: LoadSpent): Promise<Reservation> {
    const { id, allowances } = request;
    const subjects = [...new Set(allowances.map(({ subject }) => subject))];
    try {
      if (this.#isBehind()) await this.#catchUp();
      const answer = await this.#shared.reserve(request, loadSpent);
      if (!answer.ok) return answer;
      setBounded(this.#open, id, subjects, OPEN_MAX);
      this.#local.adopt(id, answer.heldNanoUsd, request.expiresInMs);
      return answer;
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      if (error.mayBeDone) this.#owe(id, endedBy(subjects, []));
    }
    const answer = await this.#local.reserve(request, loadSpent);
    if (!answer.ok) return answer;
    setBounded(this.#open, id, subjects, OPEN_MAX);
    // What Redis may have made of it is replaced when it is told.
    this.#owed.delete(id);
    setBounded(this.#untold, id, true, OPEN_MAX);
    if (this.#link.isUp) await this.#catchUp().catch(unlessAway);
    return answer;
  }

  async check(allowances: readonly Allowance[], loadSpent: LoadSpent): Promise<Reservation> {
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
      // Sums end by themselves, sooner than most outages.
      unlessAway(error);
    }
  }

  async #end(id: string, charges: readonly Charge[], endLocally: () => Promise<void>): Promise<void> {
    const subjects = this.#open.get(id) ?? [];
    this.#open.delete(id);
    this.#untold.delete(id);
    const ended = endedBy(subjects, charges);
    // Here too: a sum that was read while Redis was away does not know the charge.
    await endLocally();
    try {
      // Of a hold that was made here Redis knows nothing, so that it reads its sums again.
      await this.#shared.finish(id, ended);
    } catch (error) {
      unlessAway(error);
      this.#owe(id, ended);
    }
  }

  #owe(id: string, ended: readonly Ended[]): void {
    if (ended.length > 0) setBounded(this.#owed, id, ended, OWED_MAX);
  }

  /** Whatever Redis remembers: it may have started anew. */
  async #payBack(run: RunStep): Promise<void> {
    if (!this.#isReturning) for (const id of this.#local.openIds()) setBounded(this.#untold, id, true, OPEN_MAX);
    this.#isReturning = true;
    await this.#tell(run);
    this.#isReturning = false;
  }

  #isBehind(): boolean {
    return this.#owed.size > 0 || this.#untold.size > 0;
  }

  /** What happened between the last thing that Redis was told on its return and the first that it was asked. */
  async #catchUp(): Promise<void> {
    // As one call: all of it together is waited for no longer.
    const tell = (): Promise<void> => this.#tell(this.#link.run);
    this.#catchingUp ??= this.#link.call(tell).finally(() => (this.#catchingUp = undefined));
    await this.#catchingUp;
  }

  /** Once through what is known now: what comes meanwhile is told before the next request. */
  async #tell(run: RunStep): Promise<void> {
    for (const some of inParts([...this.#owed])) {
      await Promise.all(some.map(([id, ended]) => this.#shared.finish(id, ended, run)));
      for (const [id, ended] of some) if (this.#owed.get(id) === ended) this.#owed.delete(id);
    }
    for (const some of inParts([...this.#untold.keys()])) {
      await Promise.all(some.map((id) => this.#tellOpen(run, id)));
      for (const id of some) this.#untold.delete(id);
    }
  }

  async #tellOpen(run: RunStep, id: string): Promise<void> {
    const hold = this.#local.find(id);
    if (hold !== undefined) await this.#shared.adopt(id, hold, run);
  }
}

function unlessAway(error: unknown): void {
  if (!(error instanceof RedisAway)) throw error;
}

function* inParts<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += TOLD_AT_ONCE) yield items.slice(at, at + TOLD_AT_ONCE);
}
