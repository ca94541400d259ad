import { oneOf, type Search } from '../../parts/search.ts';

const SETTINGS_TABS = ['session', 'configuration'] as const;

export interface SettingsSearch {
  readonly tab: (typeof SETTINGS_TABS)[number];
  /** Of the sessions, or of the values. */
  readonly filter: string;
  /** Values that have their default are left out. */
  readonly isChangedOnly: boolean;
}

export function parseSettingsSearch(search: Search): SettingsSearch {
  return {
    tab: oneOf(search['tab'], SETTINGS_TABS),
    filter: search['q'] ?? '',
    isChangedOnly: search['changed'] === 'true',
  };
}
