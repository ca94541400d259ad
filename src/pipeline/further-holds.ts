import type { Hold, Ledger, Wish } from '../accounts/ledger.ts';
import type { Principal } from '../accounts/principal.ts';
import type { SpendLimit } from '../accounts/spend-limit.ts';
import { GatewayError } from '../canonical/gateway-error.ts';

/** What is held beside the first hold of a request: whoever goes on with an answer is paid beside those before. */
export interface FurtherHolds {
  /** Whether there is money for one more. Nothing is held where nothing limits the caller. */
  add(limits: readonly SpendLimit[], wish: () => Wish): Promise<boolean>;
  /**
   * Moves the holds of a request that goes on: what it has cost by now, and what comes next, in place of all that was held
   * before, in one step. Where too little is left they stay, for what it has cost.
   * @param before `undefined`: nothing limits the caller, and nothing is held
   * @returns `undefined` when too little is left
   * @throws GatewayError 503 while nobody knows what is
   */
  move(
    before: Hold | undefined,
    limits: readonly SpendLimit[],
    wish: () => Wish,
  ): Promise<{ readonly hold: Hold | undefined } | undefined>;
  /** Holds for a fee that comes before the request is served. @throws GatewayError 402 or 403 */
  fund(limits: readonly SpendLimit[], nanoUsdMax: number): Promise<void>;
  /** A hold to settle the charge with, where the request ended before it had one of its own. */
  take(): Hold | undefined;
  /** After the charge of the whole request was settled with the first hold. `undefined`: nothing is held. Never rejects. */
  release(): Promise<void> | undefined;
}

const CANNOT_TELL = 503;

type HoldingLedger = Pick<Ledger, 'reserve' | 'release'>;

/** Whose holds they are. */
interface Holder {
  readonly id: string;
  readonly asker: Principal;
}

export function createFurtherHolds(ledger: HoldingLedger, holder: Holder): FurtherHolds {
  return new OpenHolds(ledger, holder);
}

/** A class because it lives as long as its request, and most requests never hold anything here. */
class OpenHolds implements FurtherHolds {
  readonly #ledger: HoldingLedger;
  readonly #holder: Holder;
  readonly #open: Hold[] = [];
  #asked = 0;
  #isOver = false;

  constructor(ledger: HoldingLedger, holder: Holder) {
    this.#ledger = ledger;
    this.#holder = holder;
  }

  release(): Promise<void> | undefined {
    this.#isOver = true;
    return this.#open.length === 0 ? undefined : this.#releaseAll(this.#open.splice(0));
  }

  take(): Hold | undefined {
    return this.#open.shift();
  }

  async fund(limits: readonly SpendLimit[], nanoUsdMax: number): Promise<void> {
    const worst = { ownNanoUsd: nanoUsdMax, byokNanoUsd: 0 };
    const generationId = this.#nextId();
    const wish = { generationId, worst, isOpenEnded: false, affordableTokens: () => 0 };
    const hold = await this.#ledger.reserve(this.#holder.asker, limits, () => wish);
    if (hold === undefined) return;
    if (this.#isOver) await this.#ledger.release(hold);
    else this.#open.push(hold);
  }

  async move(
    before: Hold | undefined,
    limits: readonly SpendLimit[],
    wish: () => Wish,
  ): Promise<{ readonly hold: Hold | undefined } | undefined> {
    if (before === undefined) return { hold: undefined };
    const generationId = this.#nextId();
    const instead = [before, ...this.#open];
    try {
      const next = (): Wish => ({ ...wish(), generationId, instead });
      const hold = await this.#ledger.reserve(this.#holder.asker, limits, next);
      if (this.#isOver) {
        // The charge was settled with the hold before: nobody else would end this one.
        if (hold !== undefined) await this.#ledger.release(hold);
        return undefined;
      }
      this.#open.length = 0;
      // What they held of limits that no longer apply: a day may be over meanwhile.
      await this.#releaseAll(instead);
      return { hold };
    } catch (error) {
      if (error instanceof GatewayError && error.status !== CANNOT_TELL) return undefined;
      throw error;
    }
  }

  async add(limits: readonly SpendLimit[], wish: () => Wish): Promise<boolean> {
    if (this.#isOver) return false;
    const generationId = this.#nextId();
    try {
      const hold = await this.#ledger.reserve(this.#holder.asker, limits, () => ({ ...wish(), generationId }));
      if (hold !== undefined) this.#open.push(hold);
    } catch (error) {
      // Too little is left, or nobody knows what is: the answer ends where it broke off.
      if (error instanceof GatewayError) return false;
      throw error;
    }
    // The request may have ended meanwhile.
    if (this.#isOver) await this.release();
    return !this.#isOver;
  }

  #nextId(): string {
    return `${this.#holder.id}:${++this.#asked}`;
  }

  async #releaseAll(holds: readonly Hold[]): Promise<void> {
    await Promise.all(holds.map((hold) => this.#ledger.release(hold)));
  }
}
