import type { Search } from '../../parts/search.ts';

export interface SettingsSearch {
  /** Of the sessions: a name, a device or a network. */
  readonly filter: string;
}

export function parseSettingsSearch(search: Search): SettingsSearch {
  return { filter: search['q'] ?? '' };
}
