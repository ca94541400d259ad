import { z } from 'zod';
import type { ClientFormatId } from '../../canonical/extra.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnySchema, SchemaComponents } from './components.ts';
import { jsonBody, jsonContent } from './content.ts';
import { besidesError, errorShape, GENERATION_ERRORS, serializeErrors } from './errors.ts';

export interface GenerationSchemas {
  readonly request: AnySchema;
  /** The whole answer. */
  readonly response: AnySchema;
  /** The data of one event of a streamed answer. */
  readonly event?: AnySchema;
}

export const REQUEST_OF: Readonly<Record<ClientFormatId, string>> = {
  chat: 'ChatRequest',
  messages: 'MessagesRequest',
  responses: 'ResponsesRequest',
};

/** @spec chat-1, messages-1 */
export const GENERATION_HEADERS: readonly JsonObject[] = [
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

export function serializeChat(components: SchemaComponents, schemas: GenerationSchemas, error: JsonObject): JsonObject {
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

/** @spec error-5 */
const messagesErrorSchema = z.looseObject({
  type: z.literal('error'),
  error: z.looseObject({ type: z.string(), ...errorShape }),
  request_id: z.string().nullable().optional(),
  ...besidesError,
});

export function serializeMessages(components: SchemaComponents, schemas: GenerationSchemas): JsonObject {
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

export function serializeCountTokens(components: SchemaComponents, request: AnySchema): JsonObject {
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

export function generationResponse(components: SchemaComponents, name: string, schemas: GenerationSchemas): JsonObject {
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
