import { z } from 'zod';
import { EXCLUSION_REASONS } from '../../canonical/exclusion-reasons.ts';
import type { ClientFormatId } from '../../canonical/extra.ts';
import { OPERATION_KINDS } from '../../canonical/operation.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { SchemaComponents } from './components.ts';
import { jsonBody } from './content.ts';
import { serializeErrors } from './errors.ts';
import { REQUEST_OF, type GenerationSchemas } from './generation.ts';

const explainedEndpoint = z.looseObject({ provider: z.string(), tag: z.string(), model: z.string() });

/** @source src/pipeline/explain.ts */
const explanationSchema = z.looseObject({
  format: z.enum(['chat', 'messages', 'responses']).optional().describe('Of a generation.'),
  kind: z.enum(OPERATION_KINDS).optional().describe('Of a request that is no generation.'),
  requested: z.string(),
  ordering: z.enum(['balanced', 'order', 'price', 'throughput', 'latency', 'exacto']),
  models: z.array(z.string()),
  estimated_prompt_tokens: z.int(),
  candidates: z.array(explainedEndpoint),
  resting: z.array(explainedEndpoint),
  excluded: z.array(explainedEndpoint.extend({ reason: z.enum(EXCLUSION_REASONS), lacks: z.string().optional() })),
  routers: z
    .array(z.looseObject({ router: z.string(), strategy: z.string(), chosen: z.array(z.string()) }))
    .optional()
    .describe(
      'The decision of each router that takes part, and its reasons. No judge is called and nothing is remembered.',
    ),
  sticky: z.looseObject({ held: z.boolean(), saves_at_most: z.number().describe('USD') }).optional(),
  service_metadata: z.looseObject({}),
});

export function serializeExplain(
  components: SchemaComponents,
  generation: Readonly<Record<ClientFormatId, GenerationSchemas>>,
  error: JsonObject,
): JsonObject {
  const schema = {
    anyOf: [
      ...(['chat', 'messages', 'responses'] as const).map((format) =>
        components.add(REQUEST_OF[format], generation[format].request, 'input'),
      ),
      { type: 'object', description: 'A body in JSON of a route that makes no generation.' },
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
