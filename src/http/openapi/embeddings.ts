import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { SchemaComponents } from './components.ts';
import { jsonBody } from './content.ts';
import { serializeErrors } from './errors.ts';

const embeddingsResultSchema = z.looseObject({
  object: z.literal('list'),
  data: z.array(
    z.strictObject({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  id: z.string(),
  provider: z.string(),
  usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int(), cost: z.number().nullable() }),
});

const tokens = z.array(z.int().min(0)).min(1);
const file = z.looseObject({
  data: z.string().optional(),
  format: z.string().optional(),
  file_id: z.string().optional(),
});
const content = z.array(
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text'), text: z.string() }),
    z.looseObject({
      type: z.literal('image_url'),
      image_url: z.looseObject({ url: z.string().optional(), file_id: z.string().optional() }),
    }),
    z.looseObject({ type: z.literal('input_audio'), input_audio: file }),
    z.looseObject({ type: z.literal('input_video'), input_video: file }),
    z.looseObject({ type: z.literal('input_file'), input_file: file }),
  ]),
);
const input = z.union([
  z.string().min(1),
  z.array(z.string().min(1)),
  tokens,
  z.array(tokens),
  z.array(z.looseObject({ content })),
]);

/** @param request its members but for `input`, which is checked by itself */
export function serializeEmbeddings(
  components: SchemaComponents,
  request: z.ZodObject<z.ZodRawShape>,
  error: JsonObject,
): JsonObject {
  return {
    operationId: 'createEmbeddings',
    tags: ['Embeddings'],
    summary: 'Turn texts into vectors',
    security: [{ apiKey: [] }],
    requestBody: jsonBody(components.add('EmbeddingsRequest', request.extend({ input }), 'input')),
    responses: {
      200: {
        description: 'The vectors, in the order of the inputs.',
        content: {
          'application/json': { schema: components.add('EmbeddingsResponse', embeddingsResultSchema, 'output') },
        },
      },
      ...serializeErrors([400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 524, 529], error),
    },
  };
}
