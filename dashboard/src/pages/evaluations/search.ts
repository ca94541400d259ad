import type { Search } from '../../parts/search.ts';

export interface EvaluationsSearch {
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseEvaluationsSearch(search: Search): EvaluationsSearch {
  return { peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
