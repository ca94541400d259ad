import type { Search } from '../../parts/search.ts';

export interface WorkspacesSearch {
  readonly peek: string;
  readonly isNew: boolean;
}

export function parseWorkspacesSearch(search: Search): WorkspacesSearch {
  return { peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
