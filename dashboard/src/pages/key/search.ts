import { oneOf, type Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

export interface KeySearch {
  readonly range: Range;
}

export function parseKeySearch(search: Search): KeySearch {
  return { range: oneOf(search['range'] ?? '30d', RANGES) };
}
