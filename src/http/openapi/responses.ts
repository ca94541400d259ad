import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { AnySchema, SchemaComponents } from './components.ts';
import { jsonBody, jsonContent } from './content.ts';
import { besidesError, errorShape, GENERATION_ERRORS, serializeErrors } from './errors.ts';
import { GENERATION_HEADERS, generationResponse, REQUEST_OF, type GenerationSchemas } from './generation.ts';

/** The envelope of chat, with the type of the error and the path of the wrong member in it. */
const responsesErrorSchema = z.looseObject({
  error: z.looseObject({ ...errorShape, type: z.string(), param: z.string().nullable() }),
  error_type: z.string(),
  ...besidesError,
});

const RESPONSES_HEADERS: readonly JsonObject[] = [
  {
    name: 'X-Service-Stream-Errors',
    in: 'header',
    required: false,
    description:
      'Whether a refusal of status 402, 429 or 5xx comes as a stream that fails. Default: as the operator configured.',
    schema: { type: 'string', enum: ['in-band', 'status'] },
  },
  {
    name: 'X-Service-Stream-Events',
    in: 'header',
    required: false,
    description:
      'Whether a stream may have events that the SDKs of the format do not know: the steps of a panel, the diff of a patch.',
    schema: { type: 'string', enum: ['extended'] },
  },
];

export function serializeResponses(components: SchemaComponents, schemas: GenerationSchemas): JsonObject {
  const error = components.add('ResponsesError', responsesErrorSchema, 'output');
  return {
    operationId: 'createResponse',
    tags: ['Generation'],
    summary: 'Create a response',
    security: [{ apiKey: [] }, { apiKeyHeader: [] }],
    parameters: [...GENERATION_HEADERS, ...RESPONSES_HEADERS],
    requestBody: jsonBody(components.add(REQUEST_OF.responses, schemas.request, 'input')),
    responses: {
      200: generationResponse(components, 'Responses', schemas),
      ...serializeErrors(GENERATION_ERRORS, error),
    },
  };
}

export const compactionSchema = z.looseObject({
  id: z.string(),
  object: z.literal('response.compaction'),
  created_at: z.int(),
  output: z.array(z.looseObject({ type: z.string() })).describe('The new history: put it before the next input.'),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
});
export const inputTokensSchema = z.looseObject({ object: z.literal('response.input_tokens'), input_tokens: z.int() });

/** A route beside `POST /responses` that takes its body. */
export function serializeBesideResponses(
  components: SchemaComponents,
  request: AnySchema,
  route: { readonly operationId: string; readonly summary: string; readonly name: string; readonly schema: AnySchema },
): JsonObject {
  const { name, schema, ...named } = route;
  return {
    ...named,
    tags: ['Generation'],
    security: [{ apiKey: [] }, { apiKeyHeader: [] }],
    requestBody: jsonBody(components.add(REQUEST_OF.responses, request, 'input')),
    responses: {
      200: { description: `${named.summary}.`, content: jsonContent(components.add(name, schema, 'output')) },
      ...serializeErrors(GENERATION_ERRORS, components.add('ResponsesError', responsesErrorSchema, 'output')),
    },
  };
}
