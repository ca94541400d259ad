import { DEFAULT_PREFERENCES, type Directives } from '../../src/canonical/directives.ts';

/** Of a request that directs nothing but which models it wants. */
export function plainDirectives(...models: readonly string[]): Directives {
  return {
    models,
    provider: DEFAULT_PREFERENCES,
    plugins: [],
    echoUpstreamBody: false,
    serviceMetadata: false,
    betas: [],
  };
}
