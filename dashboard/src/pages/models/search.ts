import { oneOf, type Search } from '../../parts/search.ts';

export const MODEL_SORTS = ['name', 'price', 'context', 'newest'] as const;

export interface ModelsSearch {
  readonly filter: string;
  readonly sort: (typeof MODEL_SORTS)[number];
  readonly hasTools: boolean;
  readonly hasReasoning: boolean;
  readonly seesImages: boolean;
  readonly hidesSandbox: boolean;
  readonly compare: readonly string[];
  /** The hash of the key that may use them; empty: all models. */
  readonly key: string;
}

export function parseModelsSearch(search: Search): ModelsSearch {
  return {
    filter: search['q'] ?? '',
    sort: oneOf(search['sort'], MODEL_SORTS),
    hasTools: search['tools'] === 'true',
    hasReasoning: search['reasoning'] === 'true',
    seesImages: search['image'] === 'true',
    hidesSandbox: search['sandbox'] === 'false',
    compare: (search['compare'] ?? '').split(',').filter(Boolean).slice(0, 4),
    key: search['key'] ?? '',
  };
}
