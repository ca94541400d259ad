import { oneOf, type Search } from '../../parts/search.ts';
import { RANGES, type Range } from '../../parts/time.ts';

export interface ModelSearch {
  readonly range: Range;
}

export function parseModelSearch(search: Search): ModelSearch {
  return { range: oneOf(search['range'] ?? '7d', RANGES) };
}
