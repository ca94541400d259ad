import type { Search } from '../../parts/search.ts';

export interface ClassifiersSearch {
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseClassifiersSearch(search: Search): ClassifiersSearch {
  return { peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
