import type { Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

export interface AuditSearch {
  readonly action: string;
  readonly subject: string;
  readonly peek: string;
  /** Empty: all that is kept. */
  readonly range: Range | '';
}

export function parseAuditSearch(search: Search): AuditSearch {
  return {
    action: search['action'] ?? '',
    subject: search['subject'] ?? '',
    peek: search['peek'] ?? '',
    range: RANGES.find((range) => range === search['range']) ?? '',
  };
}
