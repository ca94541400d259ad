import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { assert } from '../../../lib/assert.ts';
import { generationIdOf } from '../../../wire/responses/response/response-out.ts';
import { defineRoute, NOTHING } from '../route.ts';

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
