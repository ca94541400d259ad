import { oneOf, type Search } from '../../parts/search.ts';

export const TABS = ['questions', 'models', 'apps', 'sessions'] as const;
export const DAYS = ['30', '7', '1'] as const;
export const PERIODS = ['day', 'week', 'month'] as const;
export const SORTS = ['popular', 'trending'] as const;
export const KEYS_MIN = ['1', '3', '10'] as const;

export interface DatasetsSearch {
  readonly tab: (typeof TABS)[number];
  /** A dataset of questions. */
  readonly peek: string;
  readonly isNew: boolean;
  /** To yesterday. */
  readonly days: (typeof DAYS)[number];
  readonly period: (typeof PERIODS)[number];
  readonly sort: (typeof SORTS)[number];
  /** What fewer keys used is left out, or joins the rest. */
  readonly keysMin: (typeof KEYS_MIN)[number];
}

export function parseDatasetsSearch(search: Search): DatasetsSearch {
  return {
    tab: oneOf(search['tab'], TABS),
    peek: search['peek'] ?? '',
    isNew: search['new'] === 'true',
    days: oneOf(search['days'], DAYS),
    period: oneOf(search['period'], PERIODS),
    sort: oneOf(search['sort'], SORTS),
    keysMin: oneOf(search['keys'], KEYS_MIN),
  };
}
