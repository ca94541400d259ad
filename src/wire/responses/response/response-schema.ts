import { z } from 'zod';
import { serviceMetadataSchema } from '../../gateway/response-schema.ts';

/** The responses of this endpoint, for documentation and for tests that hold responses to it. */

const count = z.int().min(0);
const usd = z.number().nullable();

/** Some thirty kinds that differ in everything but their `type`. */
const outputItem = z.looseObject({ type: z.string(), id: z.string().optional(), status: z.string().optional() });

const usage = z.looseObject({
  input_tokens: count,
  input_tokens_details: z.looseObject({ cached_tokens: count }),
  output_tokens: count,
  output_tokens_details: z.looseObject({ reasoning_tokens: count }),
  total_tokens: count,
  cost: usd.optional(),
  cost_details: z
    .looseObject({
      upstream_inference_cost: usd.optional(),
      upstream_inference_input_cost: usd,
      upstream_inference_output_cost: usd,
    })
    .nullable()
    .optional(),
  is_byok: z.boolean().optional(),
});

const error = z.looseObject({
  code: z.string(),
  message: z.string(),
  type: z.string().optional(),
  param: z.string().nullable().optional(),
});

const shape = {
  id: z.string().describe('`resp_` and the opaque part of the id of its generation.'),
  object: z.literal('response'),
  created_at: z.int().describe('Unix seconds.'),
  completed_at: z.int().nullable(),
  status: z.enum(['completed', 'incomplete', 'in_progress', 'failed', 'cancelled', 'queued']),
  error: error.nullable(),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  model: z.string().describe('The slug that served.'),
  provider: z.string().optional(),
  output: z.array(outputItem),
  output_text: z.string().optional().describe('All texts joined; not in streams.'),
  usage: usage.nullable(),
  instructions: z.unknown(),
  tools: z.array(z.looseObject({})),
  tool_choice: z.unknown(),
  parallel_tool_calls: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  store: z.boolean().describe('Whether the response is kept, and can be retrieved and continued.'),
  background: z.boolean(),
  previous_response_id: z.string().nullable(),
  error_type: z.string().optional(),
  service_metadata: serviceMetadataSchema.optional(),
};

/** The whole response, status 200. */
export const responsesResultSchema = z.looseObject(shape).meta({ id: 'ResponsesResult' });

/** The data of one event of a stream. */
export const responsesEventSchema = z
  .looseObject({
    type: z.string().describe('`response.created`, `response.output_text.delta` and so on, as in the `event:` line.'),
    sequence_number: count.describe('From 0, without a gap.'),
    response: z.looseObject(shape).optional().describe('Of the events that begin and end a response.'),
    output_index: count.optional(),
    item_id: z.string().optional(),
  })
  .meta({ id: 'ResponsesEvent' });
