import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import { exactUsd } from '../lib/money.ts';
import type { EntryKind, LedgerEntry, LedgerStore, LedgerTotals } from '../store/ledger.ts';
import type { Page, PageWindow } from '../store/page.ts';

/** The most that one entry may be, either sign: nano-USD count exactly in a double up to a little above. */
export const CREDIT_USD_MAX = 9_000_000;
export const NOTE_CHARS_MAX = 1_000;

export type CreditEntry = LedgerEntry;

/** What every change of a balance that is no charge says of itself. */
interface Reason {
  readonly accountId: string;
  readonly note: string;
  /** The hash of a management key, or `cli`. */
  readonly author: string;
}

export interface Grant extends Reason {
  /** Nano-USD, above zero. */
  readonly amountNanoUsd: number;
  readonly workspaceId?: string;
}

export interface Adjustment extends Reason {
  /** Nano-USD, signed and not zero. */
  readonly amountNanoUsd: number;
}

export interface RefundWish extends Reason {
  readonly generationId: string;
  /** Nano-USD, above zero; absent: all that is left of the charge. */
  readonly amountNanoUsd?: number;
}

/** The money of an account, and what an administrator may do about it. Every change is an entry of its ledger. */
export interface Credits {
  totals(accountId: string): Promise<LedgerTotals>;
  /** @throws GatewayError 400 when the amount or the note will not do */
  grant(wish: Grant): Promise<CreditEntry>;
  /** @throws GatewayError 400 when the amount or the note will not do */
  adjust(wish: Adjustment): Promise<CreditEntry>;
  /**
   * Money back for a generation; what counts against limits stays as it is.
   * @throws GatewayError 400 when it is more than is left of the charge, 404 when there is no charge
   */
  refund(wish: RefundWish): Promise<CreditEntry>;
  /** Newest first. */
  entries(filter: PageWindow & { readonly accountId: string; readonly kind?: EntryKind }): Promise<Page<CreditEntry>>;
}

export interface CreditsParts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** An account's balance has changed otherwise than by a charge: what is known of it is read again. */
  readonly onChange: (accountId: string) => void;
}

export function createCredits({ store, clock, onChange }: CreditsParts): Credits {
  const draft = ({ accountId, note, author }: Reason) => ({
    id: randomUUID(),
    atMs: clock.nowMs(),
    accountId,
    generationId: null,
    keyHash: null,
    workspaceId: null,
    note,
    author,
  });
  const enter = async (entry: LedgerEntry): Promise<CreditEntry> => {
    await store.append(entry);
    onChange(entry.accountId);
    return entry;
  };
  return {
    totals: (accountId) => store.totals(accountId),
    entries: (filter) => store.list(filter),
    async grant(wish) {
      checkReason(wish);
      checkAmount(wish.amountNanoUsd, { mayBeNegative: false });
      const { amountNanoUsd, workspaceId = null } = wish;
      return enter({ ...draft(wish), kind: 'grant', amountNanoUsd, workspaceId });
    },
    async adjust(wish) {
      checkReason(wish);
      checkAmount(wish.amountNanoUsd, { mayBeNegative: true });
      return enter({ ...draft(wish), kind: 'adjustment', amountNanoUsd: wish.amountNanoUsd });
    },
    async refund(wish) {
      checkReason(wish);
      const { generationId, amountNanoUsd } = wish;
      if (amountNanoUsd !== undefined) checkAmount(amountNanoUsd, { mayBeNegative: false });
      const { entry, leftNanoUsd } = await store.refund({
        ...draft(wish),
        generationId,
        ...(amountNanoUsd !== undefined && { amountNanoUsd }),
      });
      if (entry === undefined) throw leftNanoUsd <= 0 ? nothingCharged(generationId) : tooMuch(leftNanoUsd);
      onChange(entry.accountId);
      return entry;
    },
  };
}

function checkReason({ note }: Reason): void {
  if (note.trim() === '') throw invalid('note', 'must say why');
  if (note.length > NOTE_CHARS_MAX) throw invalid('note', `must be at most ${NOTE_CHARS_MAX} characters long`);
}

function checkAmount(nanoUsd: number, { mayBeNegative }: { readonly mayBeNegative: boolean }): void {
  const isWithin = Number.isSafeInteger(nanoUsd) && Math.abs(nanoUsd) <= CREDIT_USD_MAX * 1e9;
  if (isWithin && (mayBeNegative ? nanoUsd !== 0 : nanoUsd > 0)) return;
  const range = mayBeNegative
    ? `from -${CREDIT_USD_MAX} to ${CREDIT_USD_MAX} and not 0`
    : `above 0 and at most ${CREDIT_USD_MAX}`;
  throw invalid('amount', `must be an amount in USD ${range}, in steps of 0.000000001`);
}

function nothingCharged(generationId: string): GatewayError {
  return new GatewayError('not_found', `Nothing is left to give back for the generation ${generationId}.`);
}

function tooMuch(leftNanoUsd: number): GatewayError {
  return invalid('amount', `is more than is left of the charge, which is ${exactUsd(leftNanoUsd)} USD`);
}
