import type { OauthClient, OauthClients } from './clients.ts';
import { OauthRefusal, type OauthRefusalCode } from './oauth-refusal.ts';
import { isAmong } from './redirect-uris.ts';

/** What a connection may do at `/mcp`: read, spend, and judge responses. */
export const MCP_SCOPES = ['mcp:read', 'mcp:spend', 'mcp:feedback'] as const;
export type McpScope = (typeof MCP_SCOPES)[number];

/** The gateway as a client sees it: the issuer of its tokens, and the addresses of `/mcp` that they are for. */
export interface Place {
  readonly issuer: string;
  /** The first is the one that is meant where none is named. */
  readonly resources: readonly [string, ...string[]];
}

/** A request for a connection that is well-formed, of a client that may have the answer. */
export interface AuthorizationRequest {
  readonly client: OauthClient;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly challenge: string;
  readonly resource: string;
  readonly scopes: readonly McpScope[];
}

/** SHA-256 in base64url. RFC 7636, 4.2 */
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VALUE_CHARS_MAX = 2_048;

/**
 * Checks a request for a connection. What is wrong before the client and its address are known goes back to no client.
 * @throws OauthRefusal. @source RFC 6749, 4.1.1; RFC 7636; RFC 8707
 */
export async function checkAuthorization(
  clients: Pick<OauthClients, 'find'>,
  parameters: URLSearchParams,
  { resources }: Place,
): Promise<AuthorizationRequest> {
  const at = (name: string): string | undefined => parameters.get(name) ?? undefined;
  checkParameters(parameters);
  const [clientId, redirectUri, state] = [at('client_id'), at('redirect_uri'), at('state')];
  if (clientId === undefined) throw new OauthRefusal('invalid_request', 'client_id: is required.');
  const client = await clients.find(clientId);
  if (redirectUri === undefined || !isAmong(client.redirectUris, redirectUri))
    throw new OauthRefusal('invalid_request', 'redirect_uri: is none of those that the client named.');
  const refuse = (code: OauthRefusalCode, message: string): OauthRefusal =>
    new OauthRefusal(code, message, { redirect: { uri: redirectUri, state } });
  if (at('response_type') !== 'code') throw refuse('unsupported_response_type', 'response_type: must be "code".');
  const challenge = at('code_challenge') ?? '';
  if (!CHALLENGE.test(challenge) || at('code_challenge_method') !== 'S256')
    throw refuse('invalid_request', 'code_challenge: is required, with the method S256.');
  const resource = at('resource') ?? resources[0];
  if (!resources.includes(resource))
    throw refuse('invalid_target', `resource: must be ${resources[0]}, the MCP server of this gateway.`);
  return { client, redirectUri, state, challenge, resource, scopes: scopesOf(at('scope')) };
}

/** A parameter that comes twice could be read in two ways. @throws OauthRefusal */
export function checkParameters(parameters: URLSearchParams): void {
  const names = [...parameters.keys()];
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new OauthRefusal('invalid_request', 'A parameter must not come twice.');
  for (const [name, value] of parameters)
    if (value.length > VALUE_CHARS_MAX)
      throw new OauthRefusal('invalid_request', `${name.slice(0, 40)}: has more than ${VALUE_CHARS_MAX} characters.`);
}

/** Scopes that are not known here are left out; without any that is, a request is for reading. */
function scopesOf(text: string | undefined): readonly McpScope[] {
  const named = (text ?? '').split(' ');
  const known = MCP_SCOPES.filter((scope) => named.includes(scope));
  return known.length === 0 ? ['mcp:read'] : known;
}

/** Where a refusal or a code goes. */
export function answerUrl(
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | undefined },
  issuer: string,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== undefined) url.searchParams.set('state', state);
  // By which a client that knows several servers tells whose answer it is. RFC 9207
  url.searchParams.set('iss', issuer);
  return url.href;
}
