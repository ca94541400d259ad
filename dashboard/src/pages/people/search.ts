import type { Search } from '../../parts/search.ts';

export interface PeopleSearch {
  readonly filter: string;
  /** The person in the panel. */
  readonly peek: string | undefined;
  readonly isNew: boolean;
}

export function parsePeopleSearch(search: Search): PeopleSearch {
  return { filter: search['q'] ?? '', peek: search['peek'], isNew: search['new'] === 'true' };
}
