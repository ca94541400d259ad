import { z } from 'zod';

/** Shapes that responses of both formats share, for documentation and for tests that hold responses to it. */

/** @spec metadata-3 */
export const serviceMetadataSchema = z
  .looseObject({
    requested: z.string(),
    strategy: z.string(),
    region: z.string(),
    summary: z.string(),
    attempt: z.int().min(0),
    is_byok: z.boolean(),
    generation_time: z.int().min(0).optional(),
    endpoints: z.looseObject({
      total: z.int().min(0),
      available: z.array(z.looseObject({ provider: z.string(), model: z.string(), selected: z.boolean() })),
    }),
    attempts: z.array(z.looseObject({ provider: z.string(), model: z.string(), status: z.int() })).optional(),
    pipeline: z
      .array(
        z.looseObject({
          type: z.string(),
          name: z.string(),
          summary: z.string().optional(),
          guardrail_id: z.string().optional(),
          guardrail_scope: z.string().optional(),
          data: z.looseObject({}).optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'ServiceMetadata', description: 'How the request was routed. Present when a header requests it.' });

/** Members of `usage` that hold the cost. @spec money-9 */
export const costShape = {
  cost: z.number().nullable().optional().describe('USD charged to the account; null: the price is unknown.'),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullable(),
      upstream_inference_prompt_cost: z.number().nullable(),
      upstream_inference_completions_cost: z.number().nullable(),
      is_partial: z
        .literal(true)
        .optional()
        .describe('Another part of the response has no known price: `cost` is without it.'),
    })
    .nullable()
    .optional(),
  is_byok: z.boolean().optional(),
};
