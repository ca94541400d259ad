import { z } from 'zod';
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../accounts/limits/credits.ts';
import type { ClientFormatId } from '../canonical/extra.ts';
import { isJsonObject, type JsonObject } from '../lib/json.ts';
import type { ManagementRoute, RouteScope } from './management/route.ts';
import { NO_BODY } from './management/route.ts';
import { createSchemaComponents, type AnySchema, type SchemaComponents } from './openapi-schemas.ts';

export interface GenerationSchemas {
  readonly request: AnySchema;
  /** The whole answer. */
  readonly response: AnySchema;
  /** The data of one event of a streamed answer. */
  readonly event?: AnySchema;
}

export interface OpenApiDeps {
  readonly routes: readonly ManagementRoute[];
  readonly generation: { readonly chat: GenerationSchemas; readonly messages: GenerationSchemas };
  /** What of a request in the messages format is looked at to count it. */
  readonly countTokens: AnySchema;
  /** Of the interface: `1.0.0`. */
  readonly version: string;
}

/** @spec error-8 */
const ERROR_MEANING: Readonly<Record<number, string>> = {
  400: 'Invalid request parameters or malformed input.',
  401: 'Authentication required or invalid credentials.',
  402: 'Insufficient credits or quota.',
  403: 'Insufficient permissions, or a guardrail blocked the request.',
  404: 'Resource does not exist.',
  408: 'Operation exceeded the time limit.',
  409: 'Conflict with something that exists already.',
  410: 'Removed, and not coming back.',
  413: 'Request payload exceeds size limits.',
  422: 'Semantic validation failure.',
  429: 'Rate limit exceeded.',
  500: 'Unexpected server error.',
  502: 'Provider or upstream failure.',
  503: 'Service temporarily unavailable.',
  524: 'Provider request timed out at the edge network.',
  529: 'Provider temporarily overloaded.',
};

const GENERATION_ERRORS = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529];

const errorShape = {
  code: z.int().describe('Equals the HTTP status.'),
  message: z.string(),
  metadata: z.looseObject({ error_type: z.string().optional() }).optional(),
};
const besidesError = {
  service_metadata: z.looseObject({}).nullable().optional(),
  user_id: z.string().nullable().optional(),
};

/** @spec error-1 */
const errorSchema = z.looseObject({ error: z.looseObject(errorShape), ...besidesError });

/** @spec error-5 */
const messagesErrorSchema = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({ type: z.string(), ...errorShape }),
  request_id: z.string().nullable().optional(),
  ...besidesError,
});

const REQUEST_OF: Readonly<Record<ClientFormatId, string>> = { chat: 'ChatRequest', messages: 'MessagesRequest' };

const SECURITY: Readonly<Record<RouteScope, readonly JsonObject[]>> = {
  management: [{ managementKey: [] }],
  any: [{ apiKey: [] }, { apiKeyHeader: [] }, { managementKey: [] }],
  public: [],
};

/** The OpenAPI 3.1 document of everything the gateway answers, made from the schemas that check the requests. */
export function buildOpenApi(deps: OpenApiDeps): JsonObject {
  const components = createSchemaComponents();
  const error = components.add('Error', errorSchema, 'output');
  const paths: Record<string, Record<string, JsonObject>> = {
    '/chat/completions': { post: serializeChat(components, deps.generation.chat, error) },
    '/messages': { post: serializeMessages(components, deps.generation.messages) },
    '/messages/count_tokens': { post: serializeCountTokens(components, deps.countTokens) },
  };
  paths['/route/explain'] = { post: serializeExplain(components, deps.generation, error) };
  for (const route of deps.routes) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = serializeRoute(components, route, deps.generation, error);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Model Gateway', version: deps.version },
    servers: [{ url: '/v1' }, { url: '/api/v1' }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A normal API key.' },
        apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'Instead of Authorization.' },
        managementKey: { type: 'http', scheme: 'bearer', description: 'A management key.' },
      },
      schemas: components.all(),
    },
  };
}

function serializeChat(components: SchemaComponents, schemas: GenerationSchemas, error: JsonObject): JsonObject {
  return {
    operationId: 'createChatCompletion',
    tags: ['Generation'],
    summary: 'Create a chat completion',
    security: [{ apiKey: [] }],
    parameters: GENERATION_HEADERS,
    requestBody: jsonBody(components.add(REQUEST_OF.chat, schemas.request, 'input')),
    responses: {
      200: generationResponse(components, 'Chat', schemas),
      ...serializeErrors(GENERATION_ERRORS, error),
    },
  };
}

function serializeMessages(components: SchemaComponents, schemas: GenerationSchemas): JsonObject {
  const error = components.add('MessagesError', messagesErrorSchema, 'output');
  return {
    operationId: 'createMessage',
    tags: ['Generation'],
    summary: 'Create a message in the vendor messages format',
    security: [{ apiKey: [] }, { apiKeyHeader: [] }],
    parameters: GENERATION_HEADERS,
    requestBody: jsonBody(components.add(REQUEST_OF.messages, schemas.request, 'input')),
    responses: {
      200: generationResponse(components, 'Messages', schemas),
      ...serializeErrors(GENERATION_ERRORS, error),
    },
  };
}

function serializeCountTokens(components: SchemaComponents, request: AnySchema): JsonObject {
  const error = components.add('MessagesError', messagesErrorSchema, 'output');
  const answer = components.add('CountTokensResponse', z.looseObject({ input_tokens: z.int() }), 'output');
  return {
    operationId: 'countTokens',
    tags: ['Generation'],
    summary: 'Count the input tokens of a message, which costs nothing',
    security: [{ apiKey: [] }, { apiKeyHeader: [] }],
    requestBody: jsonBody(components.add('CountTokensRequest', request, 'input')),
    responses: {
      200: { description: 'As the vendor counts, else an estimate.', content: jsonContent(answer) },
      ...serializeErrors([400, 401, 402, 403, 404, 408, 413, 429, 500, 503], error),
    },
  };
}

function serializeExplain(
  components: SchemaComponents,
  { chat, messages }: OpenApiDeps['generation'],
  error: JsonObject,
): JsonObject {
  const schema = {
    anyOf: [
      components.add(REQUEST_OF.chat, chat.request, 'input'),
      components.add(REQUEST_OF.messages, messages.request, 'input'),
    ],
  };
  return {
    operationId: 'explainRoute',
    tags: ['Generation'],
    summary: 'Show how a request would be routed, without a call to any provider',
    security: [{ apiKey: [] }, { managementKey: [] }],
    requestBody: jsonBody(schema),
    responses: {
      200: {
        description:
          'Candidates in order, every exclusion with its reason, prices, and what staying with a session saves.',
        content: { 'application/json': { schema: components.add('RouteExplanation', explanationSchema, 'output') } },
      },
      ...serializeErrors([400, 401, 404, 413, 500], error),
    },
  };
}

const explainedEndpoint = z.looseObject({ provider: z.string(), tag: z.string(), model: z.string() });

/** @source src/pipeline/explain.ts */
const explanationSchema = z.looseObject({
  format: z.enum(['chat', 'messages']),
  requested: z.string(),
  ordering: z.enum(['balanced', 'order', 'price', 'throughput', 'latency', 'exacto']),
  models: z.array(z.string()),
  estimated_prompt_tokens: z.int(),
  candidates: z.array(explainedEndpoint),
  resting: z.array(explainedEndpoint),
  excluded: z.array(explainedEndpoint.extend({ reason: z.string(), lacks: z.string().optional() })),
  routers: z
    .array(z.looseObject({ router: z.string(), strategy: z.string(), chosen: z.array(z.string()) }))
    .optional()
    .describe(
      'The decision of each router that takes part, and its reasons. No judge is called and nothing is remembered.',
    ),
  sticky: z.looseObject({ held: z.boolean(), saves_at_most: z.number().describe('USD') }),
  service_metadata: z.looseObject({}),
});

/** @spec chat-1, messages-1 */
const GENERATION_HEADERS: readonly JsonObject[] = [
  {
    name: 'X-Service-Metadata',
    in: 'header',
    required: false,
    description: 'Whether the response carries `service_metadata`.',
    schema: { type: 'string', enum: ['enabled', 'disabled'], default: 'disabled' },
  },
  {
    name: 'X-Service-Rescue',
    in: 'header',
    required: false,
    description:
      'Whether another endpoint goes on with a streamed text that breaks off. Default: as the operator configured.',
    schema: { type: 'string', enum: ['enabled', 'disabled'] },
  },
  {
    name: 'x-session-id',
    in: 'header',
    required: false,
    description: 'Groups related requests; `session_id` of the body wins.',
    schema: { type: 'string', maxLength: 256 },
  },
];

function generationResponse(components: SchemaComponents, name: string, schemas: GenerationSchemas): JsonObject {
  const event = schemas.event && components.add(`${name}Event`, schemas.event, 'output');
  return {
    description: 'The response: whole, or a stream of events when `stream` is true.',
    headers: { 'X-Generation-Id': { schema: { type: 'string' }, description: 'Names the generation.' } },
    content: {
      'application/json': { schema: components.add(`${name}Response`, schemas.response, 'output') },
      'text/event-stream': { schema: event ?? { type: 'string' } },
    },
  };
}

function serializeRoute(
  components: SchemaComponents,
  route: ManagementRoute,
  generation: OpenApiDeps['generation'],
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
      content:
        contentType === undefined
          ? jsonContent(components.add(`${name}Response`, schema, 'output'))
          : { [contentType]: { schema: components.inline(`${name}Response`, schema, 'output') } },
    },
  ]);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
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
  generation: OpenApiDeps['generation'],
): JsonObject {
  if (upload !== undefined) {
    const schema = components.add(`${name}Request`, upload.form, 'input');
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } };
  }
  if (format !== undefined)
    return { requestBody: jsonBody(components.add(REQUEST_OF[format], generation[format].request, 'input')) };
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
    ...(route.scope === 'management' ? [403] : []),
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

function serializeParameters(schema: JsonObject, place: 'path' | 'query'): readonly JsonObject[] {
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

function serializeErrors(statuses: readonly number[], schema: JsonObject): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: ERROR_MEANING[status] ?? 'An error.', content: jsonContent(schema) },
    ]),
  );
}

function jsonContent(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

function jsonBody(schema: JsonObject): JsonObject {
  return { required: true, content: jsonContent(schema) };
}
