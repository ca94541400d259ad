import { IncomingMessage, type IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Audit } from '../../accounts/audit.ts';
import { requireKind, type Authenticate } from '../../accounts/keys/authenticate.ts';
import type { ByokKeys } from '../../accounts/byok/byok-keys.ts';
import type { Files } from '../../accounts/files.ts';
import type { GenerationLookup } from '../../accounts/generation-lookup.ts';
import type { GuardrailAssignments } from '../../accounts/policy/guardrail-assignments.ts';
import type { Guardrails } from '../../accounts/policy/guardrails.ts';
import type { Credits } from '../../accounts/limits/credits.ts';
import type { CountAnalyticsRequest } from '../../accounts/limits/analytics-rate-limit.ts';
import type { Keys } from '../../accounts/keys/keys.ts';
import type { OauthCodes } from '../../accounts/keys/oauth-codes.ts';
import type { Presets } from '../../accounts/presets.ts';
import type { Organization } from '../../accounts/workspaces/organization.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { WorkspaceBudgets } from '../../accounts/workspaces/workspace-budgets.ts';
import type { WorkspaceMembers } from '../../accounts/workspaces/workspace-members.ts';
import type { Workspaces } from '../../accounts/workspaces/workspaces.ts';
import type { PluginRequest } from '../../canonical/directives.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { FiguresOf } from '../../catalog/figures.ts';
import type { Catalog, Endpoint, Model } from '../../catalog/model.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { TryFilters } from '../../pipeline/content-filters/try-filters.ts';
import type { Analytics } from '../../telemetry/analytics/analytics.ts';
import type { ContentLog } from '../../telemetry/content-log.ts';
import type { Destinations } from '../../telemetry/destinations/destinations.ts';
import type { FeedbackBox } from '../../telemetry/feedback.ts';
import type { TaskTrafficWatch } from '../../telemetry/task-traffic.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { CORS_HEADERS } from '../cors.ts';
import { etagOf, hasAlready } from '../etag.ts';
import { auditChange } from './audit-change.ts';
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

/** The services of management routes. A route takes from here what it needs. */
export interface ManagementServices {
  readonly keys: Keys;
  readonly workspaces: Workspaces;
  readonly members: WorkspaceMembers;
  readonly organization: Organization;
  readonly budgets: WorkspaceBudgets;
  readonly guardrails: Guardrails;
  readonly assignments: GuardrailAssignments;
  /** Runs the filters of a guardrail on a text. */
  readonly tryFilters: TryFilters;
  readonly audit: Audit;
  readonly credits: Credits;
  readonly generations: GenerationLookup;
  readonly analytics: Analytics;
  readonly content: Pick<ContentLog, 'find'>;
  readonly feedback: FeedbackBox;
  readonly destinations: Destinations;
  readonly byok: ByokKeys;
  readonly presets: Presets;
  readonly files: Files;
  readonly oauth: OauthCodes;
  /** @throws GatewayError 400 for a body that the generation route of the format would refuse, 404 for an unknown model */
  readonly checkRequest: (format: ClientFormatId, body: JsonObject) => void;
  /**
   * Parses entries for `plugins` of a request.
   * @param path the list's name in an error
   * @throws GatewayError 400 for an entry that no request may have
   */
  readonly readPlugins: (sent: readonly unknown[], path: string) => readonly PluginRequest[];
  readonly listing: ListingServices;
  readonly insights: InsightServices;
}

/** Statistics over all requests. */
export interface InsightServices {
  /** @throws GatewayError 429 after too many requests */
  readonly take: CountAnalyticsRequest;
  readonly taskGroups: TaskTrafficWatch['groups'];
  readonly nowMs: () => number;
}

/** The services of the lists of models, endpoints and providers. */
export interface ListingServices {
  readonly catalog: Catalog;
  readonly figuresOf: FiguresOf;
  /** All providers, with or without credentials. */
  readonly providers: () => readonly ListedProvider[];
  /**
   * Returns what preferences, guardrails and credentials leave to the requests of a caller.
   * @throws GatewayError 503 while the caller's rules cannot be read
   */
  readonly allowedTo: (principal: Principal) => Promise<IsAllowed>;
  readonly nowMs: () => number;
  /** The base URL with the version segment. */
  readonly baseUrl: () => string;
}

export type IsAllowed = (model: Model, endpoint: Endpoint) => boolean;

/** A provider as callers see it. Null: unknown. */
export interface ListedProvider {
  readonly slug: string;
  readonly name: string;
  readonly headquarters: string | null;
  readonly datacenters: readonly string[] | null;
  readonly privacyPolicyUrl: string | null;
  readonly termsOfServiceUrl: string | null;
  readonly statusPageUrl: string | null;
}

/** The keys that a route accepts: management keys, any key, or none at all. */
export type RouteScope = 'management' | 'any' | 'public';

/** One status that a route may answer with. */
export interface RouteResponse {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Default: JSON. */
  readonly contentType?: string;
}

export interface RouteAnswer {
  readonly status: number;
  readonly body: object | string;
  /** Default: JSON. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The changed subject for an audit event, where the path does not name it for good. */
  readonly subject?: string;
  /** The change had been made before: no event. */
  readonly changesNothing?: boolean;
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below the version segment, in the syntax of OpenAPI: `/keys/{hash}`. */
  readonly path: string;
  readonly scope: RouteScope;
  /** Unique among all routes. */
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Statuses of errors beside those that follow from scope, path and query alone. */
  readonly errors: readonly (400 | 403 | 404 | 408 | 409 | 410 | 413 | 429 | 503)[];
  /**
   * What an audit event holds of a changing body: its members with their values or, by default, their names alone,
   * since a value may be a secret.
   */
  readonly audited?: 'values' | 'names';
  /** The route changes nothing, whatever its method, and leaves no audit event. */
  readonly onlyReads?: boolean;
  /** Any key may call; changes by management keys leave an audit event. */
  readonly auditsManagers?: boolean;
  /** With a header `Idempotency-Key`, a repeated call runs once. */
  readonly idempotent?: boolean;
  /** Other methods of the path get 405, unlike on all other paths. @spec key-14 */
  readonly refusesOtherMethods?: boolean;
  /** Takes a form whose files are read as they arrive, and not a JSON body: `body` is the request itself. */
  readonly upload?: UploadFacts;
  /** The body is a generation request of this format, which the route has checked. */
  readonly takesRequestOf?: ClientFormatId;
  /** Public, but shows more to a caller with a key; an invalid key is refused. */
  readonly readsKey?: boolean;
  /** Responses hold nothing secret and change rarely, so clients may revalidate a cached one. @spec catalog-10 */
  readonly hasTag?: boolean;
}

export interface UploadFacts {
  /** The size of the whole form. A form that declares more is not read at all. */
  readonly bytesMax: number;
  /** The content of the form, for the documentation. */
  readonly form: z.ZodType;
}

export interface RouteContext<Params, Query, Body> {
  /** Absent on public routes only. */
  readonly principal: Principal | undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly services: ManagementServices;
}

interface RouteDefinition<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends RouteFacts {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly handle: (
    context: RouteContext<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<RouteAnswer> | RouteAnswer;
}

/** A route without type parameters: it checks its input by itself. */
export interface ManagementRoute extends RouteFacts {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  /** @throws GatewayError */
  answer(raw: RouteContext<unknown, unknown, unknown>): Promise<RouteAnswer>;
}

/** No path parameters, or no query parameters: any member is a 400 that names it. */
export const NOTHING: z.ZodType<Record<string, never>> = z.strictObject({});
/** The route has no body; one that is sent is ignored. */
export const NO_BODY: z.ZodUnknown = z.unknown();

export function defineRoute<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  definition: RouteDefinition<Params, Query, Body>,
): ManagementRoute {
  const { handle, ...facts } = definition;
  return {
    ...facts,
    async answer({ principal, params, query, body, headers, services }) {
      return handle({
        principal,
        params: checkShape(definition.params, params, { root: 'path' }),
        query: checkShape(definition.query, query, { root: 'query' }),
        // An upload is a request that is still to be read, and no JSON to check.
        body: body instanceof IncomingMessage ? definition.body.parse(body) : checkShape(definition.body, body),
        headers,
        services,
      });
    },
  };
}

export interface ManagementDeps {
  readonly authenticate: Authenticate;
  readonly services: ManagementServices;
  readonly log: ProblemLog;
  readonly bodies: BodyBudget;
  /** Limits on bodies, where they differ from the defaults. */
  readonly bodyLimits?: Partial<BodyLimits> | undefined;
}

/** Requests with a key, and the shares of their bodies of the memory budget. */
type Admitted = WeakMap<FastifyRequest, { readonly principal: Principal; readonly share: BodyShare }>;

const PREFIXES = ['/v1', '/api/v1'] as const;
const JSON_TYPE = 'application/json; charset=utf-8';
const SCOPES: readonly unknown[] = ['management', 'any', 'public'] satisfies readonly RouteScope[];

/**
 * Mounts routes under each base path. The required key is declared on the route itself, never derived from its address,
 * and a route without that declaration is refused here (CVE-2026-48710: authentication by path).
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
    for (const prefix of PREFIXES) for (const route of routes) mount(context, prefix, route, deps);
    done();
  });
}

function mount(fastify: FastifyInstance, prefix: string, route: ManagementRoute, deps: MountDeps): void {
  fastify.route({
    method: route.method,
    url: prefix + route.path.replaceAll('{', ':').replaceAll('}', ''),
    bodyLimit: route.scope === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX,
    // The first hook: credentials are checked before a body is read. @spec auth-18
    async onRequest(request, reply) {
      if (route.scope === 'public' && (route.readsKey !== true || !bringsKey(request.headers))) return;
      const principal = await deps.authenticate(request.headers, { allowApiKeyHeader: route.scope !== 'management' });
      if (route.scope === 'management') requireKind(principal, 'management');
      const share = deps.bodies.open(principal.rootKeyHash ?? principal.keyHash);
      // When the caller disconnected during the look-up of its key, the close event has passed already.
      if (reply.raw.closed) share.release();
      else reply.raw.once('close', () => share.release());
      deps.admitted.set(request, { principal, share });
      if (route.upload !== undefined) admitUpload(request, reply, route.upload);
    },
    async handler(request, reply) {
      const { params, query, headers } = request;
      const principal = deps.admitted.get(request)?.principal;
      const { services } = deps;
      const answer = await route.answer({ principal, params, query, body: request.body, headers, services });
      if (principal !== undefined) await auditChange(services.audit, route, principal, request, answer);
      const { status, body, contentType = JSON_TYPE, headers: more } = answer;
      if (route.hasTag === true && status === 200) return sendTagged(reply, headers, body, contentType);
      // Responses hold spending, and one of them a key in full: no cache may keep them.
      return reply
        .code(status)
        .headers({ ...CORS_HEADERS, 'cache-control': 'no-store', 'content-type': contentType, ...more })
        .send(body);
    },
  });
  if (route.refusesOtherMethods === true) refuseOthers(fastify, prefix, route);
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
function refuseOthers(fastify: FastifyInstance, prefix: string, { method, path }: ManagementRoute): void {
  fastify.route({
    method: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].filter((other) => other !== method),
    url: prefix + path,
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
