import { oneOf, type Search } from '../../parts/search.ts';

export const TABS = ['status', 'groups', 'users', 'requests'] as const;
export type Tab = (typeof TABS)[number];

export interface ProvisioningSearch {
  readonly tab: Tab;
  readonly filter: string;
  /** A group, a user or a request. */
  readonly peek: string;
  /** Makes a token. */
  readonly isNew: boolean;
}

export function parseProvisioningSearch(search: Search): ProvisioningSearch {
  return {
    tab: oneOf(search['tab'], TABS),
    filter: search['q'] ?? '',
    peek: search['peek'] ?? '',
    isNew: search['new'] === 'true',
  };
}
