import { oneOf, type Search } from '../../parts/search.ts';

export const PROVIDER_STATES = ['on', 'all'] as const;

export interface ProvidersSearch {
  readonly filter: string;
  readonly state: (typeof PROVIDER_STATES)[number];
  readonly isNew: boolean;
}

export function parseProvidersSearch(search: Search): ProvidersSearch {
  return { filter: search['q'] ?? '', state: oneOf(search['state'], PROVIDER_STATES), isNew: search['new'] === 'true' };
}
