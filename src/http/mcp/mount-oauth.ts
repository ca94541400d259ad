import { OAuthError } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerUrl, checkAuthorization, checkParameters } from '../../accounts/connections/authorization.ts';
import type { OauthClients } from '../../accounts/connections/clients.ts';
import type { GrantedTokens, Grants } from '../../accounts/connections/grants.ts';
import { OauthRefusal } from '../../accounts/connections/oauth-refusal.ts';
import { networkOf } from '../../accounts/console/sign-in-limit.ts';
import { parseJson } from '../../lib/json.ts';
import { addressOf } from '../console/origin.ts';
import { BROWSER_HEADERS, CORS_HEADERS } from '../cors.ts';
import { problemBody, type ProblemLog } from '../problem.ts';
import {
  AUTHORIZE_PATH,
  REGISTER_PATH,
  resourceMetadata,
  RESOURCE_METADATA_PATHS,
  REVOKE_PATH,
  serverMetadata,
  SERVER_METADATA_PATHS,
  TOKEN_PATH,
  type MetadataOptions,
} from './oauth-metadata.ts';
import { ownOriginOf, type OwnOriginRules } from './own-origin.ts';
import { placeOf, resourceAt } from './place.ts';

/** What the gateway is as an authorization server for its own `/mcp`. */
export interface OauthMountDeps extends MetadataOptions {
  readonly clients: OauthClients;
  readonly grants: Grants;
  /** Counts a call of an address. @throws GatewayError 429 */
  readonly countCall: (what: 'calls' | 'registrations', network: string) => Promise<void>;
  readonly isForwarded: boolean;
}

type Deps = OauthMountDeps & OwnOriginRules & { readonly log: ProblemLog };

const BODY_BYTES_MAX = 16_384;
const CONSENT_PATH = '/ui/connect';
const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' } as const;

/** Mounts the documents about authorization, and what clients call for codes and tokens. @spec own-mcp-8 */
export function mountOauth(fastify: FastifyInstance, deps: Deps): void {
  void fastify.register((context, _options, done) => {
    context.removeAllContentTypeParsers();
    context.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_BYTES_MAX }, (_request, body, parsed) =>
      parsed(null, body),
    );
    context.setErrorHandler((error, _request, reply) => refuse(error, reply, deps.log));
    const route = (method: 'GET' | 'POST', url: string, handler: Handler): void =>
      void context.route({
        method,
        url,
        bodyLimit: BODY_BYTES_MAX,
        handler: (request, reply) => handler(request, reply),
      });
    for (const url of RESOURCE_METADATA_PATHS)
      route('GET', url, (request, reply) => {
        const origin = ownOriginOf(request.raw, deps);
        const path = url.replace('/.well-known/oauth-protected-resource', '');
        return sendDocument(reply, resourceMetadata(placeOf(origin), resourceAt(origin, path), deps));
      });
    for (const url of SERVER_METADATA_PATHS)
      route('GET', url, (request, reply) =>
        sendDocument(reply, serverMetadata(placeOf(ownOriginOf(request.raw, deps)), deps)),
      );
    route('GET', AUTHORIZE_PATH, (request, reply) => authorize(deps, request, reply));
    route('POST', TOKEN_PATH, (request, reply) => grant(deps, request, reply));
    route('POST', REVOKE_PATH, async (request, reply) => {
      await count(deps, request);
      await deps.grants.revoke(formOf(request).get('token') ?? '');
      return reply.headers(NO_STORE).send({});
    });
    if (deps.registration) route('POST', REGISTER_PATH, (request, reply) => register(deps, request, reply));
    done();
  });
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> | FastifyReply;

function sendDocument(reply: FastifyReply, document: object): FastifyReply {
  return reply.headers({ ...CORS_HEADERS, 'cache-control': 'public, max-age=300' }).send(document);
}

/** Leads the browser to the consent page, with what the client asks for. */
async function authorize(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { searchParams, search } = new URL(request.raw.url ?? '', 'http://localhost');
  try {
    const place = placeOf(ownOriginOf(request.raw, deps));
    await count(deps, request);
    try {
      await checkAuthorization(deps.clients, searchParams, place);
    } catch (error) {
      if (!(error instanceof OauthRefusal) || error.redirect === undefined) throw error;
      const { uri: redirectUri, state } = error.redirect;
      const answer = { error: error.code, error_description: error.message };
      return reply.headers(NO_STORE).redirect(answerUrl({ redirectUri, state }, place.issuer, answer), 302);
    }
    return reply.headers(NO_STORE).redirect(CONSENT_PATH + search, 302);
  } catch (error) {
    // Never to an address that no client has shown to be its own.
    const { status, headers, message } = faultOf(error, deps.log);
    return reply
      .code(status)
      .headers({ ...headers, ...BROWSER_HEADERS, ...NO_STORE, 'content-type': 'text/html; charset=utf-8' })
      .send(errorPage(message));
  }
}

async function grant(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  placeOf(ownOriginOf(request.raw, deps));
  await count(deps, request);
  const form = formOf(request);
  checkParameters(form);
  const type = form.get('grant_type');
  if (type === 'authorization_code') return sendTokens(reply, await deps.grants.exchange(form));
  if (type === 'refresh_token') return sendTokens(reply, await deps.grants.refresh(form));
  throw new OauthRefusal('unsupported_grant_type', 'grant_type: must be authorization_code or refresh_token.');
}

function sendTokens(
  reply: FastifyReply,
  { accessToken, refreshToken, lifeSeconds, scopes }: GrantedTokens,
): FastifyReply {
  return reply.headers(NO_STORE).send({
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: lifeSeconds,
    refresh_token: refreshToken,
    scope: scopes.join(' '),
  });
}

/** @source RFC 7591, 3.2.1 */
async function register(deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  placeOf(ownOriginOf(request.raw, deps));
  await count(deps, request, 'registrations');
  const { id, name, redirectUris, createdAtMs } = await deps.clients.register(
    typeof request.body === 'string' ? parseJson(request.body) : undefined,
  );
  return reply
    .code(201)
    .headers(NO_STORE)
    .send({
      client_id: id,
      client_id_issued_at: Math.floor(createdAtMs / 1_000),
      client_name: name,
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
}

function count(deps: Deps, { raw }: FastifyRequest, what: 'calls' | 'registrations' = 'calls'): Promise<void> {
  return deps.countCall(what, networkOf(addressOf(raw, deps.isForwarded)));
}

function formOf({ body, headers }: FastifyRequest): URLSearchParams {
  if (typeof body !== 'string' || !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
    throw new OauthRefusal('invalid_request', 'The body must be application/x-www-form-urlencoded.');
  return new URLSearchParams(body);
}

interface Fault {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: string;
  readonly message: string;
}

function faultOf(thrown: unknown, log: ProblemLog): Fault {
  if (thrown instanceof OauthRefusal) {
    const status = thrown.code === 'temporarily_unavailable' ? 503 : 400;
    return { status, headers: {}, code: thrown.code, message: thrown.message };
  }
  const { error, status, headers } = problemBody(thrown, log);
  const code =
    status === 429 || status === 503 ? 'temporarily_unavailable' : status >= 500 ? 'server_error' : 'invalid_request';
  return { status, headers, code, message: error.message };
}

function refuse(error: unknown, reply: FastifyReply, log: ProblemLog): void {
  const { status, headers, code, message } = faultOf(error, log);
  void reply
    .code(status)
    .headers({ ...headers, ...NO_STORE })
    .send(new OAuthError(code, message).toResponseObject());
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function errorPage(message: string): string {
  const text = message.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? '');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Model Gateway</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:34rem;padding:0 1rem;color-scheme:light dark}</style>
<h1>This request is refused</h1><p>${text}</p><p>Close this page, and start again in the program that opened it.</p></html>
`;
}
