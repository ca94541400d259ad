import type { Search } from '../../parts/search.ts';

export interface RequestSearch {
  /** What was said is shown: only after a click, and recorded. */
  readonly isSaid: boolean;
}

export function parseRequestSearch(search: Search): RequestSearch {
  return { isSaid: search['said'] === 'true' };
}
