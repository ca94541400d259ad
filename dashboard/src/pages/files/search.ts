import type { Search } from '../../parts/search.ts';

export interface FilesSearch {
  readonly filter: string;
}

export function parseFilesSearch(search: Search): FilesSearch {
  return { filter: search['q'] ?? '' };
}
