import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../accounts/limits/credits.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { NO_BODY, NO_CONTENT, type ManagementRoute, type RouteScope } from '../management/route.ts';
import type { SchemaComponents } from './components.ts';
import { jsonBody, jsonContent } from './content.ts';
import { serializeErrors } from './errors.ts';
import { REQUEST_OF, type GenerationSchemas } from './generation.ts';

type Generation = Readonly<Record<ClientFormatId, GenerationSchemas>>;

const SECURITY: Readonly<Record<RouteScope, readonly JsonObject[]>> = {
  management: [{ managementKey: [] }],
  normal: [{ apiKey: [] }, { apiKeyHeader: [] }],
  any: [{ apiKey: [] }, { apiKeyHeader: [] }, { managementKey: [] }],
  public: [],
};

export function serializeRoute(
  components: SchemaComponents,
  route: ManagementRoute,
  generation: Generation,
  error: JsonObject,
): JsonObject {
  const name = route.operationId.charAt(0).toUpperCase() + route.operationId.slice(1);
  const parameters = [
    ...serializeParameters(components.inline(`${name}Path`, route.params, 'input'), 'path'),
    ...serializeParameters(components.inline(`${name}Query`, route.query, 'input'), 'query'),
    ...(route.idempotent === true ? [IDEMPOTENCY_KEY] : []),
  ];
  const answers = Object.entries(route.responses).map(([status, { description, schema, contentType }]) => [
    status,
    {
      description,
      ...(schema !== NO_CONTENT && {
        content:
          contentType === undefined
            ? jsonContent(components.add(`${name}Response`, schema, 'output'))
            : { [contentType]: { schema: components.inline(`${name}Response`, schema, 'output') } },
      }),
    },
  ]);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.role !== undefined && { 'x-console-role': route.role }),
    ...(route.users !== undefined && { 'x-console-users': true }),
    security: route.readsKey === true ? [{}, ...SECURITY.any] : SECURITY[route.scope],
    ...(parameters.length > 0 && { parameters }),
    ...serializeBody(components, name, route, generation),
    responses: {
      ...Object.fromEntries(answers),
      ...(route.hasTag === true && NOT_MODIFIED),
      ...serializeErrors(errorsOf(route), error),
    },
  };
}

function serializeBody(
  components: SchemaComponents,
  name: string,
  { body, upload, takesRequestOf: format }: ManagementRoute,
  generation: Generation,
): JsonObject {
  if (upload !== undefined) {
    const schema = components.add(`${name}Request`, upload.form, 'input');
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (format !== undefined)
    return {
      requestBody: jsonBody(components.add(REQUEST_OF[format], generation[format].request, 'input')),
    };
  return body === NO_BODY ? {} : { requestBody: jsonBody(components.add(`${name}Request`, body, 'input')) };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names this change. Sent again it is answered with what was done the first time; with another body it is 409.',
  schema: { type: 'string', minLength: 1, maxLength: IDEMPOTENCY_KEY_CHARS_MAX },
};

const NOT_MODIFIED = { 304: { description: 'The response is still the one that `If-None-Match` names.' } };

/** What a route says itself, what follows from its scope, its path and its query, and 500, which every route can give. */
export function errorsOf(route: ManagementRoute): readonly number[] {
  const looksAtKey = route.scope !== 'public' || route.readsKey === true;
  const statuses = [
    ...route.errors,
    ...(route.scope === 'management' || route.scope === 'normal' ? [403] : []),
    // A management key may call so often, and no key can be looked up while the database is away.
    ...(looksAtKey ? [401, 429, 503] : []),
    ...(canBeMiscalled(route) ? [400] : []),
    // A body may come too slowly, be too large, or find no memory.
    ...(route.body === NO_BODY ? [] : [408, 413]),
    500,
  ];
  return [...new Set(statuses)].toSorted((one, other) => one - other);
}

/** A path may be malformed, a query may contain unknown parameters. */
function canBeMiscalled({ path, query }: ManagementRoute): boolean {
  return path.includes('{') || !query.safeParse({ 'a parameter that no route has': '' }).success;
}

export function serializeParameters(schema: JsonObject, place: 'path' | 'query'): readonly JsonObject[] {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = isJsonObject(property) ? property : {};
    return {
      name,
      in: place,
      required: Array.isArray(required) && required.includes(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}
