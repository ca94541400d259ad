import { oneOf, type Search } from '../../parts/search.ts';

export const WIDTHS = ['cost', 'time', 'tokens'] as const;

export interface SessionSearch {
  readonly width: (typeof WIDTHS)[number];
}

export function parseSessionSearch(search: Search): SessionSearch {
  return { width: oneOf(search['width'], WIDTHS) };
}
