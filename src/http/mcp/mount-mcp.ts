import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { McpHttpHandler } from '@modelcontextprotocol/server';
import type { FastifyInstance } from 'fastify';
import { requireKind, type Authenticate } from '../../accounts/keys/authenticate.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { authInfoOf, BODY_BYTES_MAX } from '../../mcp-server/server.ts';
import { leaveBodyToRoute } from '../management/body-parsers.ts';
import { checkOrigin, ownOriginOf, type OwnOriginRules } from './own-origin.ts';
import { MCP_PATHS } from './refuse-mcp.ts';
import { problemBody, type ProblemLog } from '../problem.ts';

export interface McpMountDeps extends OwnOriginRules {
  readonly handler: McpHttpHandler;
  readonly authenticate: Authenticate;
  readonly log: ProblemLog;
}

/** A key in an address stands in logs. */
const KEY_PARAMETERS = ['access_token', 'api_key', 'key', 'token'] as const;

/** Serves the gateway as an MCP server. */
export function mountMcp(fastify: FastifyInstance, deps: McpMountDeps): void {
  const handle = serveWith(deps);
  void fastify.register((context, _options, done) => {
    leaveBodyToRoute(context);
    for (const url of MCP_PATHS)
      context.all(url, (request, reply) => {
        reply.hijack();
        return handle(request.raw, reply.raw);
      });
    done();
  });
}

function serveWith(deps: McpMountDeps): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const listen = toNodeHandler(deps.handler, {
    maxRequestBodySize: BODY_BYTES_MAX,
    onerror: (error) => deps.log.error({ err: error }, 'a request of the MCP server failed'),
  });
  return async (request, response) => {
    try {
      checkOrigin(request, ownOriginOf(request, deps), deps);
      if (request.method !== 'POST') return refuseMethod(response);
      checkQuery(request);
      const principal = await deps.authenticate(request.headers, { allowApiKeyHeader: false });
      requireKind(principal, 'normal');
      response.setHeader('x-accel-buffering', 'no');
      const { method, url = '/' } = request;
      await listen(Object.assign(request, { method, url, auth: authInfoOf(principal) }), response);
    } catch (error) {
      refuse(error, request, response, deps);
    }
  };
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

function refuse(thrown: unknown, request: IncomingMessage, response: ServerResponse, { log }: McpMountDeps): void {
  const { error, status, headers } = problemBody(thrown, log);
  response.writeHead(status, {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    // The rest of an unread body would be taken for the next request.
    ...(!request.complete && { connection: 'close' }),
  });
  response.end(rpcError(error.message));
}

const INVALID_REQUEST = -32_600;

function rpcError(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code: INVALID_REQUEST, message }, id: null });
}
