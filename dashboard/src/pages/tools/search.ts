import type { Search } from '../../parts/search.ts';

export interface ToolsSearch {
  readonly filter: string;
}

export function parseToolsSearch(search: Search): ToolsSearch {
  return { filter: search['q'] ?? '' };
}
