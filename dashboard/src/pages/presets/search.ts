import type { Search } from '../../parts/search.ts';

export interface PresetsSearch {
  readonly filter: string;
}

export function parsePresetsSearch(search: Search): PresetsSearch {
  return { filter: search['q'] ?? '' };
}
