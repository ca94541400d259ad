import { isJsonObject, type JsonObject } from '../lib/json.ts';
import { RESOURCE_TYPES, SCHEMAS, serviceProviderConfig } from './discovery.ts';
import { leavesOut, project, projectionOf } from './projection.ts';
import type { Kind, ListQuery, Scim } from './scim.ts';
import { ScimError, unknownResource, WrongMethod } from './scim-error.ts';

/** What a request of the protocol says, however it came. */
export interface ScimCall {
  readonly method: string;
  /** Below the root of the protocol, with its query. */
  readonly url: URL;
  readonly body: string | undefined;
  /** The version that it is for. */
  readonly ifMatch: string | undefined;
  /** The version that its sender has. */
  readonly ifNoneMatch: string | undefined;
}

export interface ScimReply {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScimPlace {
  /** What answers name as the place of resources. */
  readonly baseUrl: string;
  /** A change of a group responds with the group. */
  readonly groupPatchBody: boolean;
}

export const SCIM_ROOT = '/scim/v2';
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const COUNT = 100;
const COUNT_MAX = 200;

/** Does what a request of an identity provider says. @throws ScimError @source RFC 7644, 3 */
export async function respond(scim: Scim, call: ScimCall, place: ScimPlace): Promise<ScimReply> {
  const [kind = '', id, ...rest] = call.url.pathname
    .slice(SCIM_ROOT.length + 1)
    .replace(/\/$/, '')
    .split('/')
    .map(decode);
  if (rest.length > 0) throw unknownResource();
  if (kind === 'Users' || kind === 'Groups')
    return id === undefined ? onAll(scim, call, place, kind) : onOne(scim, call, place, kind, id);
  if (kind === 'Bulk' || kind === 'Me') throw new ScimError(501, `${kind} is not supported.`);
  const body = describe(kind, id, place.baseUrl);
  if (call.method !== 'GET') throw new WrongMethod('GET');
  // A reader that thinks that it was applied would take others' attributes for those that it wants.
  if (call.url.searchParams.has('filter')) throw new ScimError(403, 'What the server can do has no filter.');
  return { status: 200, body };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch (cause) {
    throw new ScimError(404, 'There is no such resource.', undefined, { cause });
  }
}

function describe(kind: string, id: string | undefined, base: string): object {
  if (kind === 'ServiceProviderConfig' && id === undefined) return serviceProviderConfig(base);
  const listed = kind === 'ResourceTypes' ? RESOURCE_TYPES : kind === 'Schemas' ? SCHEMAS : undefined;
  if (listed === undefined) throw unknownResource();
  const resourceType = kind === 'Schemas' ? 'Schema' : 'ResourceType';
  const all = listed.map((each) => ({
    ...each,
    meta: { resourceType, location: `${base}/${kind}/${idOf(each)}` },
  }));
  if (id === undefined) return listOf(all, all.length, 1);
  // URNs are compared without case.
  const one = listed.findIndex((each) => idOf(each).toLowerCase() === id.toLowerCase());
  if (one < 0) throw unknownResource();
  return all[one] ?? {};
}

function idOf({ id }: JsonObject): string {
  return typeof id === 'string' ? id : '';
}

function listOf(resources: readonly JsonObject[], totalResults: number, startIndex: number): object {
  return { schemas: [LIST], totalResults, startIndex, itemsPerPage: resources.length, Resources: resources };
}

async function onAll(scim: Scim, { method, url, body }: ScimCall, place: ScimPlace, kind: Kind): Promise<ScimReply> {
  const projection = projectionOf(url.searchParams);
  if (method === 'GET') {
    const { totalResults, startIndex, resources } = await scim.list(kind, queryOf(url), place.baseUrl);
    const shown = resources.map((each) => project(each, projection));
    return { status: 200, body: listOf(shown, totalResults, startIndex) };
  }
  if (method !== 'POST') throw new WrongMethod('GET, POST');
  const made = await scim.create(kind, parse(body), place.baseUrl);
  return {
    status: 201,
    body: project(made, projection),
    headers: { location: metaOf(made, 'location'), etag: metaOf(made, 'version') },
  };
}

async function onOne(
  scim: Scim,
  { method, url, body, ifMatch, ifNoneMatch }: ScimCall,
  { baseUrl, groupPatchBody }: ScimPlace,
  kind: Kind,
  id: string,
): Promise<ScimReply> {
  const projection = projectionOf(url.searchParams);
  const tagged = (resource: JsonObject): ScimReply => ({
    status: 200,
    body: project(resource, projection),
    headers: { etag: metaOf(resource, 'version') },
  });
  switch (method) {
    case 'GET': {
      const found = await scim.get(kind, id, baseUrl, queryOf(url).withoutMembers);
      const version = metaOf(found, 'version');
      return names(ifNoneMatch, version) ? { status: 304, headers: { etag: version } } : tagged(found);
    }
    case 'PUT':
      return tagged(await scim.replace(kind, id, parse(body), ifMatch, baseUrl));
    case 'PATCH': {
      const changed = await scim.patch(kind, id, parse(body), ifMatch, baseUrl);
      const isShown = kind === 'Users' || groupPatchBody || url.searchParams.has('attributes');
      if (!isShown) return { status: 204, headers: { etag: metaOf(changed, 'version') } };
      return tagged(kind === 'Groups' ? await scim.get(kind, id, baseUrl, leavesOut(projection, 'members')) : changed);
    }
    case 'DELETE':
      await scim.delete(kind, id, ifMatch);
      return { status: 204 };
    default:
      throw new WrongMethod('GET, PUT, PATCH, DELETE');
  }
}

/** Whether `If-None-Match` names this version, compared weakly. @source RFC 9110, 13.1.2 */
function names(header: string | undefined, version: string): boolean {
  if (header === undefined) return false;
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(version));
}

function metaOf({ meta }: JsonObject, member: 'version' | 'location'): string {
  const value = isJsonObject(meta) ? meta[member] : undefined;
  return typeof value === 'string' ? value : '';
}

function parse(body: string | undefined): unknown {
  try {
    const parsed: unknown = JSON.parse(body ?? '');
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
  const filter = searchParams.get('filter');
  return {
    filter: filter === null || filter.trim() === '' ? undefined : filter,
    startIndex: Math.max(numberAt('startIndex', 1), 1),
    count: Math.min(Math.max(numberAt('count', COUNT), 0), COUNT_MAX),
    withoutMembers: leavesOut(projectionOf(searchParams), 'members'),
  };
}
