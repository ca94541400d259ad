import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { assert } from '../../../lib/assert.ts';
import { generationIdOf } from '../../../wire/responses/response/response-out.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

/** @spec generation-12 */
const CATEGORIES = [
  'latency',
  'incoherence',
  'incorrect_response',
  'formatting',
  'billing',
  'api_error',
  'other',
] as const;
const COMMENT_CHARS_MAX = 1_000;

export const listGenerationFeedback = defineRoute({
  method: 'GET',
  path: '/generation/feedback',
  scope: 'management',
  readsRecords: true,
  operationId: 'listGenerationFeedback',
  tag: 'Generations',
  summary: 'List the feedback on a generation, oldest first',
  params: NOTHING,
  query: z.strictObject({ id: z.string().min(1).max(256).describe('The `id` of the response.') }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'All of it.',
      schema: z.strictObject({
        data: z.array(
          z
            .strictObject({
              created_at: z.iso.datetime(),
              author_key_hash: z.string(),
              category: z.string(),
              comment: z.string().nullable(),
            })
            .meta({ id: 'GenerationFeedback' }),
        ),
      }),
    },
  },
  errors: [400],
  async handle({ query, services }) {
    const feedback = await services.feedback.list(generationIdOf(query.id) ?? query.id);
    const data = feedback.map(({ atMs, authorKeyHash, category, comment }) => ({
      created_at: serializeTime(atMs),
      author_key_hash: authorKeyHash,
      category,
      comment,
    }));
    return { status: 200, body: { data } };
  },
});

export const submitGenerationFeedback = defineRoute({
  method: 'POST',
  path: '/generation/feedback',
  scope: 'management',
  readsRecords: true,
  operationId: 'submitGenerationFeedback',
  tag: 'Generations',
  summary: 'Say what was wrong with a generation',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({
      generation_id: z.string().min(1).max(256),
      category: z.enum(CATEGORIES),
      comment: z.string().max(COMMENT_CHARS_MAX).optional(),
    })
    .meta({ id: 'SubmitGenerationFeedbackRequest' }),
  responses: {
    200: {
      description: 'It is kept.',
      schema: z.strictObject({ data: z.strictObject({ success: z.literal(true) }) }),
    },
  },
  errors: [400, 404, 409, 413],
  async handle({ body, principal, services }) {
    assert(principal !== undefined, 'a management route has a principal');
    const { generation_id: named, category, comment = null } = body;
    const generationId = generationIdOf(named) ?? named;
    if ((await services.generations.find(generationId)) === undefined)
      throw new GatewayError('not_found', 'There is no such generation.');
    const { keyHash: authorKeyHash } = principal;
    const isKept = await services.feedback.submit({ generationId, authorKeyHash, category, comment });
    if (!isKept)
      throw new GatewayError('invalid_request', 'There is enough feedback on this generation.', { status: 409 });
    return { status: 200, body: { data: { success: true } } };
  },
});
