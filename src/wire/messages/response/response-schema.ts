import { z } from 'zod';
import { costShape, serviceMetadataSchema } from '../../gateway/response-schema.ts';

/** The responses of this endpoint, for documentation and for tests that hold responses to it. @spec messages-26, stream-23 */

const tokens = z.int().min(0);

const stopReason = z
  .enum([
    'end_turn',
    'max_tokens',
    'model_context_window_exceeded',
    'stop_sequence',
    'tool_use',
    'pause_turn',
    'refusal',
    'compaction',
  ])
  .nullable();

const usageShape = {
  cache_creation_input_tokens: tokens.nullable(),
  cache_read_input_tokens: tokens.nullable(),
  cache_creation: z
    .looseObject({ ephemeral_5m_input_tokens: tokens, ephemeral_1h_input_tokens: tokens })
    .nullable()
    .optional(),
  output_tokens_details: z.looseObject({ thinking_tokens: tokens }).nullable().optional(),
  server_tool_use: z.looseObject({}).nullable().optional(),
  inference_geo: z.string().nullable().optional(),
  service_tier: z.string().nullable().optional(),
  ...costShape,
};

const stopDetails = z
  .looseObject({
    type: z.literal('refusal'),
    category: z.string().nullable().optional(),
    explanation: z.string().nullable().optional(),
  })
  .nullable();

const container = z.looseObject({ id: z.string(), expires_at: z.string() }).nullable();

/** The 16 kinds of 7.8 differ in everything but their `type`; a vendor adds more without notice. */
const contentBlock = z.looseObject({ type: z.string() });

const head = {
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: z.string(),
  provider: z.string().optional(),
  content: z.array(contentBlock),
  stop_reason: stopReason,
  stop_sequence: z.string().nullable(),
  stop_details: stopDetails,
  container,
};

/** The whole response, status 200. */
export const messagesResultSchema = z
  .looseObject({
    ...head,
    usage: z.looseObject({ input_tokens: tokens, output_tokens: tokens, ...usageShape }),
    service_metadata: serviceMetadataSchema.optional(),
  })
  .meta({ id: 'MessagesResult' });

const index = z.int().min(0);

/** The data of one event of a stream. */
export const messagesEventSchema = z
  .discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('message_start'),
      message: z.looseObject({
        ...head,
        usage: z.looseObject({ input_tokens: tokens, output_tokens: tokens, ...usageShape }),
      }),
    }),
    z.looseObject({ type: z.literal('ping') }),
    z.looseObject({ type: z.literal('content_block_start'), index, content_block: contentBlock }),
    z.looseObject({ type: z.literal('content_block_delta'), index, delta: z.looseObject({ type: z.string() }) }),
    z.looseObject({ type: z.literal('content_block_stop'), index }),
    z.looseObject({
      type: z.literal('message_delta'),
      delta: z.looseObject({ stop_reason: stopReason, stop_sequence: z.string().nullable() }),
      usage: z.looseObject({ input_tokens: tokens.nullable(), output_tokens: tokens, ...usageShape }),
    }),
    z.looseObject({ type: z.literal('message_stop'), service_metadata: serviceMetadataSchema.optional() }),
    z.looseObject({
      type: z.literal('error'),
      error: z.looseObject({ type: z.string(), message: z.string(), code: z.int() }),
    }),
  ])
  .meta({ id: 'MessagesEvent' });
