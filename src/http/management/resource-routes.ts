import { z } from 'zod';
import type { Viewer } from '../../accounts/people/viewer.ts';
import { pageSchema, parseWindow, serializePage, type Page, type PageQuery, type PageWindow } from './page.ts';
import {
  defineRoute,
  NO_BODY,
  NOTHING,
  type ManagementRoute,
  type ManagementServices,
  type RouteContext,
  type UserAccess,
} from './route.ts';

/** What each route of a resource says of itself. Only management keys may call it. */
interface ResourceRoute<Params extends z.ZodType> {
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly params: Params;
  /** Of the response. */
  readonly description: string;
  readonly readsRecords?: boolean;
  /** Default: 404 where the path names something, and 400 on lists. */
  readonly errors?: ManagementRoute['errors'];
}

/** What responses show of a resource. */
interface Shown<Row, Schema extends z.ZodType> {
  readonly schema: Schema;
  readonly serialize: (row: Row) => z.output<Schema>;
}

/** A route that returns one resource, or 404. */
export function defineGet<Params extends z.ZodType, Row, Schema extends z.ZodType>(
  definition: ResourceRoute<Params> &
    Shown<Row, Schema> & {
      readonly users?: UserAccess<RouteContext<z.output<Params>, Record<string, never>, unknown>>;
      /** @throws GatewayError 404 */
      readonly find: (services: ManagementServices, params: z.output<Params>) => Promise<Row>;
    },
): ManagementRoute {
  const { description, schema, serialize, find, errors, ...facts } = definition;
  return defineRoute({
    ...facts,
    method: 'GET',
    scope: 'management',
    query: NOTHING,
    body: NO_BODY,
    responses: { 200: { description, schema: z.strictObject({ data: schema }) } },
    errors: errors ?? [404],
    async handle({ params, services }) {
      return { status: 200, body: { data: serialize(await find(services, params)) } };
    },
  });
}

/** A route that returns a page of resources. */
export function defineList<Params extends z.ZodType, Query extends z.ZodType<PageQuery>, Row, Schema extends z.ZodType>(
  definition: ResourceRoute<Params> &
    Shown<Row, Schema> & {
      /** Parameters of the page, and those that filter. */
      readonly query: Query;
      readonly users?: UserAccess<RouteContext<z.output<Params>, z.output<Query>, unknown>>;
      readonly find: (
        services: ManagementServices,
        window: PageWindow,
        requested: {
          readonly params: z.output<Params>;
          readonly query: z.output<Query>;
          readonly viewer: Viewer | undefined;
        },
      ) => Promise<Page<Row>>;
    },
): ManagementRoute {
  const { description, schema, serialize, find, errors, ...facts } = definition;
  return defineRoute({
    ...facts,
    method: 'GET',
    scope: 'management',
    body: NO_BODY,
    responses: { 200: { description, schema: pageSchema(schema) } },
    errors: errors ?? (facts.path.includes('{') ? [400, 404] : [400]),
    async handle({ params, query, viewer, services }) {
      const page = await find(services, parseWindow(query), { params, query, viewer });
      return { status: 200, body: serializePage(page, serialize) };
    },
  });
}

/** A route that deletes one resource. */
export function defineDelete<Params extends z.ZodType>(
  definition: ResourceRoute<Params> & {
    readonly users?: UserAccess<RouteContext<z.output<Params>, Record<string, never>, unknown>>;
    readonly remove: (services: ManagementServices, params: z.output<Params>) => Promise<unknown>;
  },
): ManagementRoute {
  const { description, remove, errors = [404], ...facts } = definition;
  return defineRoute({
    ...facts,
    method: 'DELETE',
    scope: 'management',
    query: NOTHING,
    body: NO_BODY,
    responses: { 200: { description, schema: z.strictObject({ deleted: z.literal(true) }) } },
    errors,
    async handle({ params, services }) {
      await remove(services, params);
      return { status: 200, body: { deleted: true } };
    },
  });
}
