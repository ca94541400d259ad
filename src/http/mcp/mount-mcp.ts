import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  bearerAuthChallengeResponse,
  OAuthError,
  OAuthErrorCode,
  verifyBearerToken,
  type AuthInfo,
  type McpHttpHandler,
  type OAuthTokenVerifier,
} from '@modelcontextprotocol/server';
import type { FastifyInstance } from 'fastify';
import { requireKind, type Authenticate } from '../../accounts/keys/authenticate.ts';
import { MCP_SCOPES } from '../../accounts/connections/authorization.ts';
import { isAccessToken } from '../../accounts/connections/grants.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { isSafeAddress } from '../../lib/net/loopback-name.ts';
import { authInfoOf, BODY_BYTES_MAX } from '../../mcp-server/server.ts';
import { leaveBodyToRoute } from '../management/body-parsers.ts';
import { checkOrigin, ownOriginOf, type OwnOriginRules } from './own-origin.ts';
import { mountOauth, type OauthMountDeps } from './mount-oauth.ts';
import { resourceMetadataUrl } from './oauth-metadata.ts';
import { resourceAt } from './place.ts';
import { MCP_PATHS } from './refuse-mcp.ts';
import { problemBody, type ProblemLog } from '../problem.ts';

export interface McpMountDeps extends OwnOriginRules {
  readonly handler: McpHttpHandler;
  readonly authenticate: Authenticate;
  /** Absent: API keys alone open it. */
  readonly oauth?: OauthMountDeps | undefined;
  readonly log: ProblemLog;
}

/** A key in an address stands in logs. */
const SCHEME = /^bearer\s+/i;
/** The scope that a client without a token requests. */
const LEAST_SCOPE = 'mcp:read';
const KEY_PARAMETERS = ['access_token', 'api_key', 'key', 'token'] as const;

/** Serves the gateway as an MCP server. */
export function mountMcp(fastify: FastifyInstance, deps: McpMountDeps): void {
  const handle = serveWith(deps);
  void fastify.register((context, _options, done) => {
    leaveBodyToRoute(context);
    for (const url of MCP_PATHS)
      context.all(url, (request, reply) => {
        reply.hijack();
        return handle(request.raw, reply.raw, request.originalUrl);
      });
    done();
  });
  if (deps.oauth !== undefined) mountOauth(fastify, { ...deps, ...deps.oauth });
}

type Serve = (request: IncomingMessage, response: ServerResponse, calledUrl: string) => Promise<void>;

function serveWith(deps: McpMountDeps): Serve {
  const listen = toNodeHandler(deps.handler, {
    maxRequestBodySize: BODY_BYTES_MAX,
    onerror: (error) => deps.log.error({ err: error }, 'a request of the MCP server failed'),
  });
  return async (request, response, calledUrl) => {
    try {
      const origin = ownOriginOf(request, deps);
      checkOrigin(request, origin, deps);
      showToPage(request, response, deps);
      if (request.method !== 'POST') return refuseMethod(response);
      checkQuery(request);
      const auth = await authorize(deps, request, resourceAt(origin, calledUrl.split('?', 1)[0] ?? ''));
      response.setHeader('x-accel-buffering', 'no');
      const { method, url = '/' } = request;
      await listen(Object.assign(request, { method, url, auth }), response);
    } catch (error) {
      await refuse(error, request, response, deps);
    }
  };
}

/** A page of an allowed origin may read what it gets; what else it needs is in the answer to its preflight. @spec own-mcp-14 */
function showToPage({ headers }: IncomingMessage, response: ServerResponse, { allowedOrigins }: McpMountDeps): void {
  const { origin } = headers;
  if (origin === undefined || !allowedOrigins.includes(origin.toLowerCase())) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', 'WWW-Authenticate, Retry-After');
  response.setHeader('vary', 'Origin');
}

/** Finds the caller by a token of a connection or by an API key. @throws Challenge, GatewayError */
async function authorize(
  { authenticate, oauth }: McpMountDeps,
  { headers }: IncomingMessage,
  resource: string,
): Promise<AuthInfo> {
  const metadataUrl = oauth === undefined || !isSafeAddress(resource) ? undefined : resourceMetadataUrl(resource);
  try {
    const { authorization = '' } = headers;
    if (oauth !== undefined && isAccessToken(authorization.replace(SCHEME, '')))
      return await verifyBearerToken(authorization, {
        verifier: verifierOf(oauth),
        expectedResource: new URL(resource),
        ...(metadataUrl !== undefined && { resourceMetadataUrl: metadataUrl }),
      });
    const principal = await authenticate(headers, { allowApiKeyHeader: false });
    requireKind(principal, 'normal');
    return authInfoOf(principal, { scopes: MCP_SCOPES });
  } catch (error) {
    const isRefused = error instanceof OAuthError || (error instanceof GatewayError && error.status === 401);
    if (!isRefused || metadataUrl === undefined) throw error;
    // RFC 6750 takes no quotes in the description.
    throw new Challenge(error.message.replaceAll('"', ''), metadataUrl);
  }
}

function verifierOf({ grants }: OauthMountDeps): OAuthTokenVerifier {
  return {
    async verifyAccessToken(token) {
      const admitted = await grants.admit(token);
      if (admitted === undefined)
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is not valid, has expired, or was revoked.');
      const { principal, scopes, clientId, resource, expiresAtMs } = admitted;
      const expiresAt = Math.ceil(expiresAtMs / 1_000);
      return authInfoOf(principal, { scopes, clientId, resource: new URL(resource), expiresAt });
    },
  };
}

/** A 401 that says where a client learns how to get a token. @source RFC 9728, 5.1 */
class Challenge extends Error {
  readonly metadataUrl: string;

  constructor(message: string, metadataUrl: string) {
    super(message);
    this.name = 'Challenge';
    this.metadataUrl = metadataUrl;
  }
}

function checkQuery({ url = '' }: IncomingMessage): void {
  const query = new URL(url, 'http://localhost').searchParams;
  const found = KEY_PARAMETERS.find((name) => query.has(name));
  if (found === undefined) return;
  throw new GatewayError(
    'invalid_request',
    `${found}: an API key must not stand in the address. Send it in the header "Authorization: Bearer <API_KEY>".`,
  );
}

/** There are no sessions to read or to end. */
function refuseMethod(response: ServerResponse): void {
  response.writeHead(405, { allow: 'POST', 'content-type': 'application/json; charset=utf-8' });
  response.end(rpcError('Method not allowed: POST alone is.'));
}

async function refuse(
  thrown: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  { log }: McpMountDeps,
): Promise<void> {
  // The rest of an unread body would be taken for the next request.
  if (!request.complete) response.shouldKeepAlive = false;
  if (thrown instanceof Challenge) {
    const challenge = bearerAuthChallengeResponse(new OAuthError(OAuthErrorCode.InvalidToken, thrown.message), {
      requiredScopes: [LEAST_SCOPE],
      resourceMetadataUrl: thrown.metadataUrl,
    });
    response.writeHead(challenge.status, Object.fromEntries(challenge.headers)).end(await challenge.text());
    return;
  }
  const { error, status, headers } = problemBody(thrown, log);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  response.end(rpcError(error.message));
}

const INVALID_REQUEST = -32_600;

function rpcError(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null });
}
