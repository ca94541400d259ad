import type { Hold, Ledger, Wish } from '../accounts/ledger.ts';
import type { Principal } from '../accounts/principal.ts';
import type { SpendLimit, Spent } from '../accounts/spend-limit.ts';
import { GatewayError } from '../canonical/gateway-error.ts';

/** What is held beside the first hold of a request: whoever goes on with an answer is paid beside those before. */
export interface FurtherHolds {
  /** Whether there is money for one more. Nothing is held where nothing limits the caller. */
  add(limits: readonly SpendLimit[], wish: () => Wish): Promise<boolean>;
  /** After the charge of the whole request was settled with the first hold. Never rejects. */
  release(): Promise<void>;
}

const NOTHING: Spent = { ownNanoUsd: 0, byokNanoUsd: 0 };

export function createFurtherHolds(
  ledger: Pick<Ledger, 'reserve' | 'settle'>,
  { id, asker }: { readonly id: string; readonly asker: Principal },
): FurtherHolds {
  const open: Hold[] = [];
  let asked = 0;
  let isOver = false;

  async function release(): Promise<void> {
    isOver = true;
    await Promise.all(open.splice(0).map((hold) => ledger.settle(hold, NOTHING)));
  }

  return {
    release,
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
