import { oneOf, type Search } from '../../parts/search.ts';

export const SETTINGS_TABS = ['session', 'configuration'] as const;

export interface SettingsSearch {
  readonly tab: (typeof SETTINGS_TABS)[number];
  readonly filter: string;
  readonly isChangedOnly: boolean;
}

export function parseSettingsSearch(search: Search): SettingsSearch {
  return {
    tab: oneOf(search['tab'], SETTINGS_TABS),
    filter: search['q'] ?? '',
    isChangedOnly: search['changed'] === 'true',
  };
}
