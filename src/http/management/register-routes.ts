import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireKind, type Authenticate } from '../../accounts/keys/authenticate.ts';
import { checkRights, notYours, type Viewer } from '../../accounts/people/viewer.ts';
import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import { BASE_PATH } from '../base-path.ts';
import { CORS_HEADERS } from '../cors.ts';
import { etagOf, hasAlready } from '../etag.ts';
import type { ConsoleCaller, ConsoleCallers } from '../console/callers.ts';
import { auditChange, auditRead } from './audit-change.ts';
import type { SerializeError } from '../client-error.ts';
import type { BodyBudget, BodyShare } from '../body-budget.ts';
import { problemBody, type ProblemLog } from '../problem.ts';
import type { BodyLimits } from '../read-body.ts';
import {
  BODY_BYTES_MAX,
  type BodyReading,
  leaveBodyToRoute,
  PUBLIC_BODY_BYTES_MAX,
  readAnyBodyAsJson,
  readNoBody,
} from './body-parsers.ts';
import {
  NO_BODY,
  type ManagementRoute,
  type ManagementServices,
  type RouteContext,
  type RouteScope,
  type UploadFacts,
} from './route.ts';

export interface ManagementDeps {
  /** Finds the caller, also of requests that a session of the dashboard makes. */
  readonly authenticate: Authenticate;
  /** Absent: no session calls. */
  readonly callers?: Pick<ConsoleCallers, 'find'> | undefined;
  readonly services: ManagementServices;
  readonly log: ProblemLog;
  /** The shape of errors on routes that belong to a format of generations, by their path. Absent: that of all others. */
  readonly serializeError?: SerializeError;
  readonly bodies: BodyBudget;
  /** Limits on bodies, where they differ from the defaults. */
  readonly bodyLimits?: Partial<BodyLimits> | undefined;
}

/** Requests with a key, and the shares of their bodies of the memory budget. */
interface Admission {
  readonly principal: Principal;
  /** A user that is no operator. */
  readonly viewer: Viewer | undefined;
  readonly share: BodyShare;
}
type Admitted = WeakMap<FastifyRequest, Admission>;

const JSON_TYPE = 'application/json; charset=utf-8';
const SCOPES: readonly unknown[] = ['management', 'normal', 'any', 'public'] satisfies readonly RouteScope[];

/**
 * Mounts routes under one base path; the server rewrites the other. The required key is declared on the route itself,
 * never derived from its address, and a route without that declaration is refused here (CVE-2026-48710: authentication by
 * path).
 */
export function registerManagementRoutes(
  fastify: FastifyInstance,
  routes: readonly ManagementRoute[],
  deps: ManagementDeps,
): void {
  for (const { scope, path } of routes) assert(SCOPES.includes(scope), `the route ${path} has a scope`);
  const uploads = routes.filter(({ upload }) => upload !== undefined);
  const others = routes.filter(({ upload }) => upload === undefined);
  const takesNone = ({ body }: ManagementRoute): boolean => body === NO_BODY;
  const admitted: Admitted = new WeakMap();
  const reading: BodyReading = { limits: deps.bodyLimits, shareOf: (request) => admitted.get(request)?.share };
  const register = (some: readonly ManagementRoute[], setBodyParser: (context: FastifyInstance) => void): void =>
    registerContext(fastify, some, { ...deps, admitted }, setBodyParser);
  register(others.filter(takesNone), readNoBody);
  register(
    others.filter((route) => !takesNone(route)),
    (context) => readAnyBodyAsJson(context, reading),
  );
  register(uploads, leaveBodyToRoute);
}

type MountDeps = ManagementDeps & { readonly admitted: Admitted };

/** Registers a context of its own: neither its error handler nor its body parser affects other routes. */
function registerContext(
  fastify: FastifyInstance,
  routes: readonly ManagementRoute[],
  deps: MountDeps,
  setBodyParser: (context: FastifyInstance) => void,
): void {
  void fastify.register((context, _options, done) => {
    setBodyParser(context);
    context.setErrorHandler((error, request, reply) => {
      const { status, headers, body } = problemBody(error, deps.log);
      // The rest of an unread body would be taken for the next request.
      if (hasBody(request.headers) && !request.raw.complete) reply.header('connection', 'close');
      return reply
        .code(status)
        .headers({ ...CORS_HEADERS, ...headers })
        .send(body);
    });
    for (const route of routes) mount(context, route, deps);
    done();
  });
}

function mount(fastify: FastifyInstance, route: ManagementRoute, deps: MountDeps): void {
  fastify.route({
    method: route.method,
    url: BASE_PATH + route.path.replaceAll('{', ':').replaceAll('}', ''),
    ...(route.scope === 'normal' &&
      deps.serializeError !== undefined && { errorHandler: refuseInFormat(deps.log, deps.serializeError) }),
    bodyLimit: route.scope === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX,
    // The first hook: credentials are checked before a body is read. @spec auth-18
    async onRequest(request, reply) {
      const caller = deps.callers?.find(request.headers);
      if (caller !== undefined) requireRole(caller, route);
      else if (route.scope === 'public' && (route.readsKey !== true || !bringsKey(request.headers))) return;
      const principal = await principalOf(request.headers, caller, route, deps.authenticate);
      const viewer = caller?.session.viewer;
      if (route.scope === 'management' || route.scope === 'normal') requireKind(principal, route.scope);
      if (route.scope === 'normal') await deps.services.countCall(principal);
      const share = deps.bodies.open(principal.rootKeyHash ?? principal.keyHash);
      // When the caller disconnected during the look-up of its key, the close event has passed already.
      if (reply.raw.closed) share.release();
      else reply.raw.once('close', () => share.release());
      deps.admitted.set(request, { principal, viewer, share });
      if (route.upload !== undefined) admitUpload(request, reply, route.upload);
    },
    async handler(request, reply) {
      const { params, query, headers } = request;
      const { principal, viewer } = deps.admitted.get(request) ?? {};
      const { services } = deps;
      if (route.readsRecords === true) await services.waitForRecords();
      const context = { principal, viewer, params, query, body: request.body, headers, services };
      if (viewer !== undefined) await requireRights(viewer, route, context);
      const answer = await route.answer(context);
      if (principal !== undefined) await auditChange(services.audit, route, principal, request, answer);
      if (principal !== undefined && deps.callers?.find(headers) !== undefined)
        await auditRead(services.audit, route, principal, answer);
      const { status, body, contentType = JSON_TYPE, headers: more } = answer;
      if (status === 204)
        return reply
          .code(status)
          .headers({ ...CORS_HEADERS, 'cache-control': 'no-store' })
          .send();
      if (route.hasTag === true && status === 200) return sendTagged(reply, headers, body, contentType);
      // Responses hold spending, and one of them a key in full: no cache may keep them.
      return reply
        .code(status)
        .headers({ ...CORS_HEADERS, 'cache-control': 'no-store', 'content-type': contentType, ...more })
        .send(body);
    },
  });
  if (route.refusesOtherMethods === true) refuseOthers(fastify, route);
}

/** @throws GatewayError 403 for a route of operators. @spec console-11 */
function requireRole({ session }: ConsoleCaller, { role, users }: ManagementRoute): void {
  if (session.role === 'operator' || role === session.role) return;
  if (session.viewer !== undefined && users !== undefined) return;
  throw new GatewayError('permission_denied', "This operation needs an operator's session.");
}

/**
 * The caller of a route. A user that is no operator counts as a management key only where its rights are checked, or the
 * route narrows what it shows; elsewhere it acts as its key for the dashboard.
 */
async function principalOf(
  headers: IncomingHttpHeaders,
  caller: ConsoleCaller | undefined,
  route: ManagementRoute,
  authenticate: Authenticate,
): Promise<Principal> {
  if (caller !== undefined && route.scope === 'normal') return caller.generatesAs();
  const viewer = caller?.session.viewer;
  if (caller === undefined || viewer === undefined)
    return authenticate(headers, { allowApiKeyHeader: route.scope !== 'management' });
  if (route.users !== undefined) return { ...caller.session.principal, kind: 'management' };
  return route.scope === 'any' ? caller.generatesAs() : caller.session.principal;
}

/** @throws GatewayError 403, 404 for what is not within the rights of a user. @spec people-9 */
async function requireRights(
  viewer: Viewer,
  { users }: ManagementRoute,
  context: RouteContext<unknown, unknown, unknown>,
): Promise<void> {
  if (typeof users !== 'function') return;
  try {
    checkRights(viewer, await users(context));
  } catch (error) {
    // What does not exist reads like what belongs to others.
    throw error instanceof GatewayError && error.status === 404 ? notYours() : error;
  }
}

/** Routes for normal keys alone belong to the format of their generations. */
function refuseInFormat(log: ProblemLog, serializeError: SerializeError) {
  return (cause: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { error, status, headers } = problemBody(cause, log);
    void reply
      .code(status)
      .headers({ ...CORS_HEADERS, ...headers })
      .send(serializeError(error, request.url));
  };
}

/** Sends a response that only the client may cache, and must revalidate; a client that has it already gets 304. */
function sendTagged(
  reply: FastifyReply,
  requested: IncomingHttpHeaders,
  body: object | string,
  type: string,
): FastifyReply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const etag = etagOf(text);
  reply.headers({ ...CORS_HEADERS, etag, 'cache-control': 'private, no-cache', vary: VARY });
  if (hasAlready(requested, etag)) return reply.code(304).send();
  return reply.code(200).headers({ 'content-type': type }).send(text);
}

/** The request headers that such a response depends on. */
const VARY = 'Authorization, X-Api-Key, Anthropic-Version';

/** Answers 405 to other methods: no other route may exist at the same path. */
function refuseOthers(fastify: FastifyInstance, { method, path }: ManagementRoute): void {
  fastify.route({
    method: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].filter((other) => other !== method),
    url: BASE_PATH + path,
    handler(_request, reply) {
      void reply.header('allow', method);
      throw new GatewayError('invalid_request', `This path takes ${method} only.`, { status: 405 });
    },
  });
}

function bringsKey(headers: IncomingHttpHeaders): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined;
}

/** @throws GatewayError 413 for a form that declares too many bytes */
function admitUpload(request: FastifyRequest, reply: FastifyReply, { bytesMax }: UploadFacts): void {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax)
    throw new GatewayError('payload_too_large', `The request body is larger than ${bytesMax} bytes.`);
  if (request.headers.expect !== undefined) reply.raw.writeContinue();
}

function hasBody({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return Number(length ?? 0) > 0 || encoding !== undefined;
}
