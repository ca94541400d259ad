import type { Search } from '../../parts/search.ts';

export interface DestinationsSearch {
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseDestinationsSearch(search: Search): DestinationsSearch {
  return { peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
