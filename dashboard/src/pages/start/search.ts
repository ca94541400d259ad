import type { Search } from '../../parts/search.ts';

export interface StartSearch {
  readonly client: string;
}

export function parseStartSearch(search: Search): StartSearch {
  return { client: search['client'] ?? 'curl' };
}
