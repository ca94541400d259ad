import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { exactUsd } from '../../lib/money.ts';
import { uuidOf } from '../../lib/ids.ts';
import type { EntryKind, LedgerEntry } from '../../resources/ledger-entries.ts';
import type { EntryResult, LedgerStore, LedgerTotals } from '../../store/usage/ledger.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';

/** The largest amount of one entry, either sign: a double holds nano-USD exactly up to a little more. */
export const CREDIT_USD_MAX = 9_000_000;
export const NOTE_CHARS_MAX = 1_000;
export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
const IDEMPOTENCY_KEY = new RegExp(`^[!-~]{1,${IDEMPOTENCY_KEY_CHARS_MAX}}$`);
/** A constant: with another one, a repeated change would be entered again. */
const ENTRY_NAMESPACE = '3a0d4c53-52a3-4b0f-9a55-6f5c1b7b6c1e';

export type CreditEntry = LedgerEntry;
export type CreditChange = EntryResult;

/** What every change of a balance that is no charge must say. */
interface Reason {
  readonly accountId: string;
  readonly note: string;
  /** The hash of a management key, or `cli`. */
  readonly author: string;
  /** Repeated changes with the same key are one entry. A key names one change of the account. */
  readonly idempotencyKey?: string;
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

export interface RefundInput extends Reason {
  readonly generationId: string;
  /** Nano-USD, above zero; absent: the whole rest of the charge. */
  readonly amountNanoUsd?: number;
}

/**
 * The money of an account, and what an administrator may do with it. Every change is an entry of its ledger. A change
 * with an idempotency key that was used for another change is 409.
 */
export interface Credits {
  totals(accountId: string): Promise<LedgerTotals>;
  /** @throws GatewayError 400 for a bad amount, note or idempotency key, 409 */
  grant(grant: Grant): Promise<EntryResult>;
  /** @throws GatewayError 400 for a bad amount, note or idempotency key, 409 */
  adjust(adjustment: Adjustment): Promise<EntryResult>;
  /**
   * Refunds a generation; what counts against limits stays as it is.
   * @throws GatewayError 400 for more than the rest of the charge, 404 when there is no charge, 409
   */
  refund(refundInput: RefundInput): Promise<EntryResult>;
  /** Lists the newest first. */
  entries(filter: PageWindow & { readonly accountId: string; readonly kind?: EntryKind }): Promise<Page<CreditEntry>>;
}

export interface CreditsDeps {
  readonly store: LedgerStore;
  readonly clock: Clock;
  /** Runs after a balance changed otherwise than by a charge, so that cached balances are read again. */
  readonly onChange: (accountId: string) => void;
}

export function createCredits({ store, clock, onChange }: CreditsDeps): Credits {
  const draft = ({ accountId, note, author, idempotencyKey }: Reason) => ({
    id: idempotencyKey === undefined ? randomUUID() : uuidOf(ENTRY_NAMESPACE, `${accountId} ${idempotencyKey}`),
    atMs: clock.nowMs(),
    accountId,
    generationId: null,
    keyHash: null,
    workspaceId: null,
    note,
    author,
  });
  const conclude = (input: Partial<LedgerEntry>, entered: EntryResult): EntryResult => {
    if (!entered.isNew) checkSameEntry(input, entered.entry);
    onChange(entered.entry.accountId);
    return entered;
  };
  const enter = async (entry: LedgerEntry): Promise<EntryResult> => conclude(entry, await store.append(entry));
  return {
    totals: (accountId) => store.totals(accountId),
    entries: (filter) => store.list(filter),
    async grant(grant) {
      checkReason(grant);
      checkAmount(grant.amountNanoUsd, { mayBeNegative: false });
      const { amountNanoUsd, workspaceId = null } = grant;
      return enter({ ...draft(grant), kind: 'grant', amountNanoUsd, workspaceId });
    },
    async adjust(adjustment) {
      checkReason(adjustment);
      checkAmount(adjustment.amountNanoUsd, { mayBeNegative: true });
      return enter({ ...draft(adjustment), kind: 'adjustment', amountNanoUsd: adjustment.amountNanoUsd });
    },
    async refund(refundInput) {
      checkReason(refundInput);
      const { generationId, amountNanoUsd } = refundInput;
      if (amountNanoUsd !== undefined) checkAmount(amountNanoUsd, { mayBeNegative: false });
      const refund = { ...draft(refundInput), generationId, ...(amountNanoUsd !== undefined && { amountNanoUsd }) };
      const refunded = await store.refund(refund);
      if ('entry' in refunded) return conclude({ ...refund, kind: 'refund' }, refunded);
      throw refunded.leftNanoUsd <= 0 ? nothingCharged(generationId) : tooMuch(refunded.leftNanoUsd);
    },
  };
}

/** The fields that must be equal; the author and the time of a repeated change may differ. */
const SENT = ['accountId', 'kind', 'amountNanoUsd', 'generationId', 'workspaceId', 'note'] as const;

/** @throws GatewayError 409 */
function checkSameEntry(input: Partial<LedgerEntry>, known: LedgerEntry): void {
  if (SENT.every((name) => input[name] === undefined || input[name] === known[name])) return;
  const was = `a ${known.kind} of ${exactUsd(known.amountNanoUsd)} USD, ${known.id}`;
  const message = `This idempotency key was used for another change of the balance: ${was}.`;
  throw new GatewayError('invalid_request', message, { status: 409 });
}

function checkReason({ note, idempotencyKey }: Reason): void {
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey))
    throw invalid('idempotency key', `must be 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters`);
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
