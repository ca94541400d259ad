import type { Search } from '../../parts/search.ts';

export interface GuardrailsSearch {
  /** Empty: the first that the session manages. */
  readonly workspace: string;
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseGuardrailsSearch(search: Search): GuardrailsSearch {
  return { workspace: search['workspace'] ?? '', peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
