import { z } from 'zod';
import {
  answerUrl,
  MCP_SCOPES,
  type AuthorizationRequest,
  type Place,
} from '../../accounts/connections/authorization.ts';
import { OauthRefusal } from '../../accounts/connections/oauth-refusal.ts';
import { isLoopbackUri } from '../../accounts/connections/redirect-uris.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import { nanoFromUsd } from '../../lib/money.ts';
import { serializeTime } from '../../resources/columns.ts';
import { keyResource } from '../../resources/keys.ts';
import { limitResetSchema } from '../../resources/shapes.ts';
import { NO_BODY, NOTHING } from '../management/route.ts';
import {
  defineConsoleRoute,
  type ConnectionServices,
  type ConsoleContext,
  type ConsoleRoute,
} from './console-route.ts';

const QUERY_CHARS_MAX = 8_192;
const query = z
  .string()
  .max(QUERY_CHARS_MAX)
  .describe('Of the address of `/oauth/authorize`, without the question mark.');
const scope = z.enum(MCP_SCOPES);

function servicesOf({ services }: Pick<ConsoleContext<unknown, unknown>, 'services'>): ConnectionServices {
  if (services.connections !== undefined) return services.connections;
  throw new GatewayError(
    'not_found',
    'Programs do not connect by OAuth. "mcp_server: { enabled: true, oauth: true }" in the configuration allows it.',
  );
}

/** @throws GatewayError 400 for what no client may ask */
async function check(
  context: Pick<ConsoleContext<unknown, { readonly query: string }>, 'services' | 'body' | 'origin'>,
): Promise<{ readonly request: AuthorizationRequest; readonly place: Place }> {
  const place = servicesOf(context).placeOf(context.origin);
  try {
    return { request: await servicesOf(context).check(new URLSearchParams(context.body.query), place), place };
  } catch (error) {
    if (!(error instanceof OauthRefusal)) throw error;
    throw new GatewayError('invalid_request', error.message, { cause: error });
  }
}

const showRequest = defineConsoleRoute({
  method: 'POST',
  path: '/connections/request',
  operationId: 'showConnectionRequest',
  summary: 'Show which program asks for a connection to the MCP server, and for what',
  params: NOTHING,
  body: z.strictObject({ query }),
  responses: {
    200: {
      description: 'The request. Nothing is allowed by it.',
      schema: z.strictObject({
        data: z.strictObject({
          client_id: z.string(),
          client_name: z.string().describe('As the program calls itself.'),
          client_host: z.string().nullable().describe('Of its document. Null: anything can call itself so.'),
          is_known: z.boolean().describe('Whether the operator named it in the configuration.'),
          redirect_host: z.string(),
          is_loopback: z.boolean().describe('Whether any program on the own machine may be the one that asks.'),
          scopes: z.array(scope),
          resource: z.string(),
          denial_url: z.string().describe('Where a refusal goes.'),
        }),
      }),
    },
  },
  errors: [400, 403, 404, 413],
  async handle(context) {
    const { request, place } = await check(context);
    const { client, redirectUri, scopes, resource } = request;
    const data = {
      client_id: client.id,
      client_name: client.name,
      client_host: client.host,
      is_known: client.isKnown,
      redirect_host: new URL(redirectUri).host,
      is_loopback: isLoopbackUri(redirectUri),
      scopes,
      resource,
      denial_url: answerUrl(request, place.issuer, { error: 'access_denied' }),
    };
    return { status: 200, body: { data } };
  },
});

const allow = defineConsoleRoute({
  method: 'POST',
  path: '/connections',
  operationId: 'allowConnection',
  summary: 'Let a program use the MCP server, within a limit',
  params: NOTHING,
  body: z.strictObject({
    query,
    scopes: z.array(scope).min(1),
    workspace_id: z.uuid().optional().describe('Default: the default workspace.'),
    limit: keyResource.createShape.limit,
    limit_reset: limitResetSchema.optional(),
    expires_at: z.iso.datetime().nullable().describe('Null: never.'),
  }),
  responses: {
    201: {
      description: 'It gets its tokens for a code, once and within a minute.',
      schema: z.strictObject({ data: z.strictObject({ url: z.string().describe('Where the browser goes.') }) }),
    },
  },
  errors: [400, 403, 404, 413, 429],
  async handle(context) {
    const { session, body } = context;
    assert(session !== undefined, 'the route is not open');
    const { request, place } = await check(context);
    const code = await servicesOf(context).allow(session, request, {
      scopes: body.scopes,
      workspaceId: body.workspace_id,
      limitNanoUsd: body.limit === undefined || body.limit === null ? null : nanoFromUsd(body.limit),
      limitReset: body.limit_reset ?? null,
      expiresAtMs: body.expires_at === null ? null : Date.parse(body.expires_at),
    });
    return { status: 201, body: { data: { url: answerUrl(request, place.issuer, { code }) } } };
  },
});

const list = defineConsoleRoute({
  method: 'GET',
  path: '/connections',
  operationId: 'listConnections',
  summary: 'List programs that may use the MCP server, newest first: operators see all, others their own',
  params: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'At most 500.',
      schema: z.strictObject({
        data: z.array(
          z.strictObject({
            id: z.uuid(),
            client_id: z.string(),
            client_name: z.string(),
            client_host: z.string().nullable(),
            key_hash: z.string().describe('What its calls are charged to.'),
            user_id: z.string().nullable().describe('That allowed it. Null: an operator with a key or a link.'),
            workspace_id: z.string(),
            scopes: z.array(z.string()),
            created_at: z.iso.datetime(),
            expires_at: z.iso.datetime().nullable(),
            last_used_at: z.iso.datetime().nullable().describe('To the minute.'),
          }),
        ),
      }),
    },
  },
  errors: [404],
  async handle(context) {
    assert(context.session !== undefined, 'the route is not open');
    const rows = await servicesOf(context).list(context.session);
    const data = rows.map((row) => ({
      id: row.id,
      client_id: row.clientId,
      client_name: row.clientName,
      client_host: row.clientHost,
      key_hash: row.keyHash,
      user_id: row.userId,
      workspace_id: row.workspaceId,
      scopes: row.scopes,
      created_at: serializeTime(row.createdAtMs),
      expires_at: row.expiresAtMs === null ? null : serializeTime(row.expiresAtMs),
      last_used_at: row.lastUsedAtMs === null ? null : serializeTime(row.lastUsedAtMs),
    }));
    return { status: 200, body: { data } };
  },
});

const end = defineConsoleRoute({
  method: 'DELETE',
  path: '/connections/{id}',
  operationId: 'endConnection',
  summary: 'End a connection: its tokens and its key are good for nothing any more',
  params: z.strictObject({ id: z.uuid() }),
  body: NO_BODY,
  responses: { 200: { description: 'It has ended.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [400, 404],
  async handle(context) {
    assert(context.session !== undefined, 'the route is not open');
    await servicesOf(context).end(context.session, context.params.id);
    return { status: 200, body: { deleted: true } };
  },
});

/** Of programs that people let use `/mcp` for them. */
export const CONNECTION_ROUTES: readonly ConsoleRoute[] = [showRequest, allow, list, end];
