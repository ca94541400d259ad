import type { Search } from '../../parts/search.ts';

export interface DestinationsSearch {
  /** Empty: the first that the session manages. */
  readonly workspace: string;
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseDestinationsSearch(search: Search): DestinationsSearch {
  return { workspace: search['workspace'] ?? '', peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
