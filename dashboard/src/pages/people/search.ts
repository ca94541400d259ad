import type { Search } from '../../parts/search.ts';

export interface PeopleSearch {
  readonly filter: string;
}

export function parsePeopleSearch(search: Search): PeopleSearch {
  return { filter: search['q'] ?? '' };
}
