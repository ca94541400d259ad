import { oneOf, type Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

export interface OverviewSearch {
  readonly range: Range;
}

export function parseOverviewSearch(search: Search): OverviewSearch {
  return { range: oneOf(search['range'] ?? '24h', RANGES) };
}
