import type { ScimMappings } from '../../../scim/mappings.ts';
import type { ScimOverview, ScimRequestLog } from '../../../scim/request-log.ts';
import type { ScimTokens } from '../../../scim/tokens.ts';
import type { PushedUsers } from '../../../scim/pushed-users.ts';

/** What an operator does about an identity provider. */
export interface ScimServices {
  readonly tokens: ScimTokens;
  readonly mappings: ScimMappings;
  readonly requests: ScimRequestLog['list'];
  readonly overview: () => Promise<ScimOverview>;
  readonly users: PushedUsers;
  /** What an identity provider is to call; `undefined`: below the address by which it finds the gateway. */
  readonly baseUrl: string | undefined;
}
