import type { Search } from '../../parts/search.ts';

export interface AuditSearch {
  readonly action: string;
  readonly subject: string;
  readonly peek: string;
}

export function parseAuditSearch(search: Search): AuditSearch {
  return { action: search['action'] ?? '', subject: search['subject'] ?? '', peek: search['peek'] ?? '' };
}
