import type { Search } from '../../parts/search.ts';

export interface GuardrailsSearch {
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseGuardrailsSearch(search: Search): GuardrailsSearch {
  return { peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
