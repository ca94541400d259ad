import { oneOf, type Search } from '../../parts/search.ts';

export const KEY_STATES = ['all', 'active', 'disabled', 'near'] as const;
export type KeyState = (typeof KEY_STATES)[number];

export interface KeysSearch {
  readonly filter: string;
  readonly state: KeyState;
  readonly workspace: string;
  readonly isNew: boolean;
}

export function parseKeysSearch(search: Search): KeysSearch {
  return {
    filter: search['q'] ?? '',
    state: oneOf(search['state'], KEY_STATES),
    workspace: search['workspace'] ?? '',
    isNew: search['new'] === 'true',
  };
}
