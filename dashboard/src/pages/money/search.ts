import { oneOf, type Search } from '../../parts/search.ts';

const MONEY_TABS = ['balance', 'budgets', 'ledger', 'reconcile', 'saved'] as const;
export const ENTRY_KINDS = [
  'purchase',
  'grant',
  'adjustment',
  'transfer_in',
  'transfer_out',
  'usage',
  'byok_fee',
  'refund',
  'expiry',
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

export interface MoneySearch {
  readonly tab: (typeof MONEY_TABS)[number];
  readonly isGranting: boolean;
  /** Of the ledger; empty: all. */
  readonly kind: EntryKind | '';
}

export function parseMoneySearch(search: Search): MoneySearch {
  return {
    tab: oneOf(search['tab'], MONEY_TABS),
    isGranting: search['grant'] === 'true',
    kind: ENTRY_KINDS.find((kind) => kind === search['kind']) ?? '',
  };
}
