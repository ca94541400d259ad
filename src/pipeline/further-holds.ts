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
  /** After the charge of the whole request was settled with the first hold. Never rejects. */
  release(): Promise<void>;
}

const CANNOT_TELL = 503;

export function createFurtherHolds(
  ledger: Pick<Ledger, 'reserve' | 'release'>,
  { id, asker }: { readonly id: string; readonly asker: Principal },
): FurtherHolds {
  const open: Hold[] = [];
  let asked = 0;
  let isOver = false;

  async function release(): Promise<void> {
    isOver = true;
    await Promise.all(open.splice(0).map((hold) => ledger.release(hold)));
  }

  return {
    release,
    async fund(limits, nanoUsdMax) {
      const worst = { ownNanoUsd: nanoUsdMax, byokNanoUsd: 0 };
      const generationId = `${id}:${++asked}`;
      const wish = { generationId, worst, isOpenEnded: false, affordableTokens: () => 0 };
      const hold = await ledger.reserve(asker, limits, () => wish);
      if (hold === undefined) return;
      if (isOver) await ledger.release(hold);
      else open.push(hold);
    },
    take: () => open.shift(),
    async move(before, limits, wish) {
      if (before === undefined) return { hold: undefined };
      const generationId = `${id}:${++asked}`;
      const instead = [before, ...open];
      try {
        const hold = await ledger.reserve(asker, limits, () => ({ ...wish(), generationId, instead }));
        open.length = 0;
        // What they held of limits that no longer apply: a day may be over meanwhile.
        await Promise.all(instead.map((other) => ledger.release(other)));
        return { hold };
      } catch (error) {
        if (error instanceof GatewayError && error.status !== CANNOT_TELL) return undefined;
        throw error;
      }
    },
    async add(limits, wish) {
      if (isOver) return false;
      const generationId = `${id}:${++asked}`;
      try {
        const hold = await ledger.reserve(asker, limits, () => ({ ...wish(), generationId }));
        if (hold !== undefined) open.push(hold);
      } catch (error) {
        // Too little is left, or nobody knows what is: the answer ends where it broke off.
        if (error instanceof GatewayError) return false;
        throw error;
      }
      // The request may have ended meanwhile.
      if (isOver) await release();
      return !isOver;
    },
  };
}
