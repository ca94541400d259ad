import type { KnownProvider } from './known-provider.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';

/** Engines that run on the operator's own machine and need no key. */
export const LOCAL_ENGINES: ReadonlyMap<string, KnownProvider> = new Map(
  KNOWN_PROVIDERS.filter(({ apiKeyVariables }) => apiKeyVariables.length === 0).map((row) => [row.id, row]),
);
