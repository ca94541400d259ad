import type { Search } from '../../parts/search.ts';

export interface ContainersSearch {
  readonly workspace: string;
  readonly peek: string;
}

export function parseContainersSearch(search: Search): ContainersSearch {
  return { workspace: search['workspace'] ?? '', peek: search['peek'] ?? '' };
}
