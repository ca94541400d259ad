import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { SchemaComponents } from './components.ts';
import { jsonBody } from './content.ts';
import { serializeErrors } from './errors.ts';

const result = z.looseObject({
  index: z.int(),
  relevance_score: z.number(),
  document: z.looseObject({ text: z.string().optional() }).optional(),
});

const rerankResultSchema = z.looseObject({
  id: z.string(),
  model: z.string(),
  provider: z.string(),
  results: z.array(result),
  usage: z.looseObject({
    total_tokens: z.int().optional(),
    search_units: z.int().optional(),
    cost: z.number().nullable(),
  }),
  meta: z.looseObject({}),
});

const documents = z
  .array(z.union([z.string().min(1), z.looseObject({ text: z.string().optional(), image: z.string().optional() })]))
  .min(1);

/** @param request its members but for `documents`, which are checked by themselves */
export function serializeRerank(
  components: SchemaComponents,
  request: z.ZodObject<z.ZodRawShape>,
  error: JsonObject,
): JsonObject {
  return {
    operationId: 'createRerank',
    tags: ['Rerank'],
    summary: 'Order documents by how well they fit a query',
    security: [{ apiKey: [] }],
    requestBody: jsonBody(components.add('RerankRequest', request.extend({ documents }), 'input')),
    responses: {
      200: {
        description: 'The results, the most relevant one first.',
        content: { 'application/json': { schema: components.add('RerankResponse', rerankResultSchema, 'output') } },
      },
      ...serializeErrors([400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 524, 529], error),
    },
  };
}
