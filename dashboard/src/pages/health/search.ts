import type { Search } from '../../parts/search.ts';

export interface HealthSearch {
  /** Only what is not well. */
  readonly isBadOnly: boolean;
}

export function parseHealthSearch(search: Search): HealthSearch {
  return { isBadOnly: search['bad'] === 'true' };
}
