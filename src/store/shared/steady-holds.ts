import type { Redis } from 'ioredis';
import { setBounded } from '../../lib/bounded-map.ts';
import type { Charge, HoldRequest, Holds, LoadSpent, Reservation } from './contract.ts';
import type { LocalHolds } from './memory-holds.ts';
import { endedBy, type Ended, type RedisHolds } from './redis-holds.ts';
import { RedisAway, type RedisLink } from './redis-link.ts';

/** Holds of this process whose subjects are remembered; one that is not ends by itself. */
const OPEN_MAX = 50_000;
/** What is made up for when Redis is back. What is more heals when its holds and sums end. */
const OWED_MAX = 10_000;
/** Of those so many at once. */
const OWED_AT_ONCE = 200;

/**
 * Holds in Redis; while it is away, in this process, which then counts for itself: it knows what it holds, here and there,
 * and what was settled is in the durable sums, but not what other processes hold. When Redis is back it is told what ended
 * meanwhile.
 */
export class SteadyHolds implements Holds {
  readonly #shared: RedisHolds;
  readonly #local: LocalHolds;
  readonly #open = new Map<string, readonly string[]>();
  readonly #owed = new Map<string, readonly Ended[]>();

  constructor(shared: RedisHolds, local: LocalHolds, link: RedisLink) {
    this.#shared = shared;
    this.#local = local;
    link.onBack((client) => this.#payBack(client));
  }

  async reserve(request: HoldRequest, loadSpent: LoadSpent): Promise<Reservation> {
    const { id, allowances } = request;
    const subjects = [...new Set(allowances.map(({ subject }) => subject))];
    const answer = await this.#shared.reserve(request, loadSpent).catch((error: unknown) => {
      if (!(error instanceof RedisAway)) throw error;
      if (error.mayBeDone) this.#owe(id, endedBy(subjects, []));
      return this.#local.reserve(request, loadSpent);
    });
    if (!answer.ok) return answer;
    setBounded(this.#open, id, subjects, OPEN_MAX);
    this.#local.adopt(id, answer.heldNanoUsd, request.expiresInMs);
    return answer;
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
      if (!(error instanceof RedisAway)) throw error;
    }
  }

  async #end(id: string, charges: readonly Charge[], endLocally: () => Promise<void>): Promise<void> {
    const subjects = this.#open.get(id) ?? [];
    this.#open.delete(id);
    const ended = endedBy(subjects, charges);
    // Here too: a sum that was read while Redis was away does not know the charge.
    await endLocally();
    try {
      // Of a hold that was made here Redis knows nothing, so that it reads its sums again.
      await this.#shared.finish(id, ended);
    } catch (error) {
      if (!(error instanceof RedisAway)) throw error;
      this.#owe(id, ended);
    }
  }

  #owe(id: string, ended: readonly Ended[]): void {
    if (ended.length > 0) setBounded(this.#owed, id, ended, OWED_MAX);
  }

  async #payBack(client: Redis): Promise<void> {
    while (this.#owed.size > 0) {
      const some = [...this.#owed].slice(0, OWED_AT_ONCE);
      await Promise.all(some.map(([id, ended]) => this.#shared.finishOn(client, id, ended)));
      for (const [id, ended] of some) if (this.#owed.get(id) === ended) this.#owed.delete(id);
    }
  }
}
