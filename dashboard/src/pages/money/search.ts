import { oneOf, type Search } from '../../parts/search.ts';

export const MONEY_TABS = ['balance', 'budgets', 'ledger', 'reconcile'] as const;

export interface MoneySearch {
  readonly tab: (typeof MONEY_TABS)[number];
  readonly isGranting: boolean;
}

export function parseMoneySearch(search: Search): MoneySearch {
  return { tab: oneOf(search['tab'], MONEY_TABS), isGranting: search['grant'] === 'true' };
}
