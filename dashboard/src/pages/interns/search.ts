import type { Search } from '../../parts/search.ts';

export interface InternsSearch {
  readonly tab: 'waiting' | 'interns';
  /** Empty: the default one. */
  readonly workspace: string;
  /** An intern. */
  readonly peek: string;
  /** A run of the intern. */
  readonly run: string;
  readonly isNew: boolean;
}

export function parseInternsSearch(search: Search): InternsSearch {
  return {
    tab: search['tab'] === 'waiting' ? 'waiting' : 'interns',
    workspace: search['workspace'] ?? '',
    peek: search['peek'] ?? '',
    run: search['run'] ?? '',
    isNew: search['new'] === 'true',
  };
}
