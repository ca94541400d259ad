import { oneOf, type Search } from '../../parts/search.ts';

const TABS = ['requests', 'mappings', 'groups', 'tokens'] as const;

export interface ProvisioningSearch {
  readonly tab: (typeof TABS)[number];
  readonly peek: string;
  /** The form of the open tab. */
  readonly isNew: boolean;
}

export function parseProvisioningSearch(search: Search): ProvisioningSearch {
  return { tab: oneOf(search['tab'], TABS), peek: search['peek'] ?? '', isNew: search['new'] === 'true' };
}
