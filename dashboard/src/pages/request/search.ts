import type { Search } from '../../parts/search.ts';

export interface RequestSearch {
  /** Content is shown: only after a click, and recorded. */
  readonly isContentShown: boolean;
}

export function parseRequestSearch(search: Search): RequestSearch {
  return { isContentShown: search['content'] === 'true' };
}
