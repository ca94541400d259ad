import type { Search } from '../../parts/search.ts';

export interface VaultSearch {
  readonly tab: 'secrets' | 'releases';
  /** A workspace, or `operator`. */
  readonly scope: string;
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseVaultSearch(search: Search): VaultSearch {
  return {
    tab: search['tab'] === 'releases' ? 'releases' : 'secrets',
    scope: search['scope'] ?? 'operator',
    peek: search['peek'] ?? '',
    isNew: search['new'] === 'true',
  };
}
