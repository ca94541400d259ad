import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  type OAuthMetadata,
} from '@modelcontextprotocol/server';
import { MCP_SCOPES, type Place } from '../../accounts/connections/authorization.ts';
import { RESOURCE_PATHS } from './place.ts';

export const AUTHORIZE_PATH = '/oauth/authorize';
export const TOKEN_PATH = '/oauth/token';
export const REVOKE_PATH = '/oauth/revoke';
export const REGISTER_PATH = '/oauth/register';

export interface MetadataOptions {
  readonly clientDocuments: boolean;
  readonly registration: boolean;
}

export function resourceMetadataUrl(resource: string): string {
  return getOAuthProtectedResourceMetadataUrl(new URL(resource));
}

/** @source RFC 9728, 3.2 */
export function resourceMetadata(place: Place, resource: string, options: MetadataOptions): object {
  return {
    ...buildOAuthProtectedResourceMetadata({
      oauthMetadata: serverMetadata(place, options),
      resourceServerUrl: new URL(resource),
      scopesSupported: [...MCP_SCOPES],
      resourceName: 'Model Gateway',
    }),
    bearer_methods_supported: ['header'],
  };
}

/** @source RFC 8414, 2; RFC 9207, 3; draft-ietf-oauth-client-id-metadata-document, 5 */
export function serverMetadata(
  { issuer }: Place,
  { clientDocuments, registration }: MetadataOptions,
): OAuthMetadata & { readonly [field: string]: unknown } {
  return {
    issuer,
    authorization_endpoint: issuer + AUTHORIZE_PATH,
    token_endpoint: issuer + TOKEN_PATH,
    revocation_endpoint: issuer + REVOKE_PATH,
    ...(registration && { registration_endpoint: issuer + REGISTER_PATH }),
    scopes_supported: [...MCP_SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    client_id_metadata_document_supported: clientDocuments,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Where clients look for the documents: the bare form, with the path behind it, and below the path. */
export const RESOURCE_METADATA_PATHS: readonly string[] = wellKnown('oauth-protected-resource');
export const SERVER_METADATA_PATHS: readonly string[] = [
  ...wellKnown('oauth-authorization-server'),
  ...wellKnown('openid-configuration'),
];

function wellKnown(name: string): readonly string[] {
  const path = `/.well-known/${name}`;
  return [path, ...RESOURCE_PATHS.map((each) => path + each), '/mcp' + path, '/v1/mcp' + path];
}
