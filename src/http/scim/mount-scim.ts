import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { Kind, ListQuery, Scim } from '../../scim/scim.ts';
import { SCIM_IS_OFF, ScimError, serializeScimError, unknownResource } from '../../scim/scim-error.ts';
import { RESOURCE_TYPES, SCHEMAS, serviceProviderConfig } from '../../scim/discovery.ts';
import type { ScimTokenRow } from '../../scim/tokens.ts';
import { addressOf } from '../console/origin.ts';
import { problemBody } from '../problem.ts';

export interface ScimHttpDeps {
  readonly scim: Scim;
  /** Finds the token of a request, within the limits on rates. @throws ScimError 401, 429 */
  readonly admit: (authorization: string | undefined, address: string) => Promise<ScimTokenRow>;
  /** Absent: that of the request. */
  readonly baseUrl: string | undefined;
  readonly groupPatchBody: boolean;
  readonly isForwarded: boolean;
  readonly onBug: (error: unknown) => void;
}

const ROOT = '/scim/v2';
const BODY_BYTES_MAX = 1_048_576;
const TYPE = 'application/scim+json; charset=utf-8';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const COUNT = 100;
const COUNT_MAX = 200;
/** Entra ID appends it to the address, so that it may stand before the path. */
const NOISE = /\?aadOptscim062020(?=\/)/i;

/** The protocol of identity providers: RFC 7644, at the root of the host. @spec scim-1 */
export function mountScim(fastify: FastifyInstance, deps: ScimHttpDeps): void {
  void fastify.register((context, _options, done) => {
    context.removeAllContentTypeParsers();
    context.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_BYTES_MAX }, (_request, body, parsed) =>
      parsed(null, body),
    );
    context.setErrorHandler((error, _request, reply) => refuse(deps, error, reply));
    for (const url of [ROOT, `${ROOT}/*`])
      context.route({
        method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
        url,
        bodyLimit: BODY_BYTES_MAX,
        handler: (request, reply) => answer(deps, request, reply),
      });
    done();
  });
}

/** The gateway takes nothing from identity providers, and says what changes that. @spec error-25 */
export function refuseScim(fastify: FastifyInstance): void {
  const body = serializeScimError(404, SCIM_IS_OFF);
  for (const url of [ROOT, `${ROOT}/*`])
    fastify.all(url, (_request, reply) => reply.code(404).header('content-type', TYPE).send(body));
}

function refuse({ onBug }: ScimHttpDeps, error: unknown, reply: FastifyReply): void {
  void reply.header('content-type', TYPE);
  if (error instanceof ScimError) {
    if (error.status === 429) void reply.header('retry-after', '1');
    if (error.status === 401) void reply.header('www-authenticate', 'Bearer');
    void reply.code(error.status).send(serializeScimError(error.status, error.message, error.scimType));
    return;
  }
  const problem = problemBody(error, { error: ({ err }) => onBug(err) });
  const { 'retry-after': retryAfter } = problem.headers;
  if (retryAfter !== undefined) void reply.header('retry-after', retryAfter);
  void reply.code(problem.status).send(serializeScimError(problem.status, problem.error.message));
}

async function answer(deps: ScimHttpDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  await deps.admit(request.headers.authorization, addressOf(request.raw, deps.isForwarded));
  const url = new URL((request.raw.url ?? '').replace(NOISE, ''), 'http://host');
  const [kind = '', id, ...rest] = url.pathname
    .slice(ROOT.length + 1)
    .replace(/\/$/, '')
    .split('/')
    .map(decode);
  const base = deps.baseUrl ?? `${request.protocol}://${request.headers.host ?? ''}${ROOT}`;
  void reply.header('content-type', TYPE).header('cache-control', 'no-store');
  if (rest.length > 0) throw unknownResource();
  if (kind === 'Users' || kind === 'Groups')
    return id === undefined
      ? onAll(deps, request, reply, kind, url, base)
      : onOne(deps, request, reply, { kind, id, url, base });
  if (kind === 'Bulk' || kind === 'Me') throw new ScimError(501, `${kind} is not supported.`);
  if (request.method !== 'GET') throw unknownResource();
  return reply.send(describe(kind, id, base));
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch (cause) {
    throw new ScimError(404, 'There is no such resource.', undefined, { cause });
  }
}

function describe(kind: string, id: string | undefined, base: string): object {
  if (kind === 'ServiceProviderConfig') return serviceProviderConfig(base);
  const all = kind === 'ResourceTypes' ? RESOURCE_TYPES : kind === 'Schemas' ? SCHEMAS : undefined;
  if (all === undefined) throw unknownResource();
  if (id === undefined) return listOf(all, all.length, 1);
  const one = all.find((each) => each['id'] === id);
  if (one === undefined) throw unknownResource();
  return one;
}

function listOf(resources: readonly JsonObject[], totalResults: number, startIndex: number): object {
  return { schemas: [LIST], totalResults, startIndex, itemsPerPage: resources.length, Resources: resources };
}

async function onAll(
  { scim }: ScimHttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  kind: Kind,
  url: URL,
  base: string,
): Promise<FastifyReply> {
  if (request.method === 'GET') {
    const { totalResults, startIndex, resources } = await scim.list(kind, queryOf(url), base);
    return reply.send(listOf(resources, totalResults, startIndex));
  }
  if (request.method !== 'POST') throw new ScimError(405, 'This path takes GET and POST.');
  const made = await scim.create(kind, bodyOf(request), base);
  return withTag(reply.code(201).header('location', locationOf(made)), made);
}

interface Called {
  readonly kind: Kind;
  readonly id: string;
  readonly url: URL;
  readonly base: string;
}

async function onOne(
  { scim, groupPatchBody }: ScimHttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, id, url, base }: Called,
): Promise<FastifyReply> {
  const version = request.headers['if-match'];
  switch (request.method) {
    case 'GET': {
      const found = await scim.get(kind, id, base, queryOf(url).withoutMembers);
      if (request.headers['if-none-match'] === tagOf(found)) return reply.code(304).send();
      return withTag(reply, found);
    }
    case 'PUT':
      return withTag(reply, await scim.replace(kind, id, bodyOf(request), version, base));
    case 'PATCH': {
      const changed = await scim.patch(kind, id, bodyOf(request), version, base);
      const isShown = kind === 'Users' || groupPatchBody || url.searchParams.has('attributes');
      if (!isShown) return reply.code(204).header('etag', tagOf(changed)).send();
      return withTag(reply, kind === 'Groups' ? await scim.get(kind, id, base, false) : changed);
    }
    case 'DELETE':
      await scim.delete(kind, id, version);
      return reply.code(204).send();
    default:
      throw new ScimError(405, 'This path takes GET, PUT, PATCH and DELETE.');
  }
}

function withTag(reply: FastifyReply, resource: JsonObject): FastifyReply {
  return reply.header('etag', tagOf(resource)).send(resource);
}

function tagOf({ meta }: JsonObject): string {
  const version = isJsonObject(meta) ? meta['version'] : undefined;
  return typeof version === 'string' ? version : '';
}

function locationOf({ meta }: JsonObject): string {
  const location = isJsonObject(meta) ? meta['location'] : undefined;
  return typeof location === 'string' ? location : '';
}

function bodyOf({ body }: FastifyRequest): unknown {
  try {
    const parsed: unknown = JSON.parse(typeof body === 'string' ? body : '');
    return parsed;
  } catch (cause) {
    throw new ScimError(400, 'The body is not JSON.', 'invalidSyntax', { cause });
  }
}

function queryOf({ searchParams }: URL): ListQuery {
  const numberAt = (name: string, usual: number): number => {
    const value = searchParams.get(name);
    const number = value === null || value === '' ? usual : Number(value);
    if (!Number.isSafeInteger(number)) throw new ScimError(400, `${name}: must be a whole number.`, 'invalidValue');
    return number;
  };
  const excluded = (searchParams.get('excludedAttributes') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const filter = searchParams.get('filter');
  return {
    filter: filter === null || filter.trim() === '' ? undefined : filter,
    startIndex: Math.max(numberAt('startIndex', 1), 1),
    count: Math.min(Math.max(numberAt('count', COUNT), 0), COUNT_MAX),
    withoutMembers: excluded.includes('members'),
  };
}
