import type { ProviderPreferences } from './directives.ts';

/**
 * Preferences that hold for requests which say nothing else: of the configuration, a workspace or a key. How they meet
 * those of a request is told by `routing/preferences.ts`.
 */
export type DefaultPreferences = Partial<
  Pick<ProviderPreferences, 'order' | 'only' | 'ignore' | 'sort' | 'dataCollection' | 'zdr'>
>;
