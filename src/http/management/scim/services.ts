import type { ScimMappings } from '../../../scim/mappings.ts';
import type { ScimTokens } from '../../../scim/tokens.ts';

/** What an operator does about an identity provider. */
export interface ScimServices {
  readonly tokens: ScimTokens;
  readonly mappings: ScimMappings;
}
