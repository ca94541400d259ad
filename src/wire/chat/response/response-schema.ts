import { z } from 'zod';
import { costShape, serviceMetadataSchema } from '../../gateway/response-schema.ts';

/** The responses of this endpoint, for documentation and for tests that hold responses to it. @spec chat-response-1 */

const tokens = z.int().min(0);

const usageSchema = z
  .looseObject({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    total_tokens: tokens,
    prompt_tokens_details: z
      .looseObject({
        cached_tokens: tokens.optional(),
        cache_write_tokens: tokens.optional(),
        audio_tokens: tokens.optional(),
        video_tokens: tokens.optional(),
      })
      .nullable()
      .optional(),
    completion_tokens_details: z
      .looseObject({
        reasoning_tokens: tokens.nullable().optional(),
        audio_tokens: tokens.nullable().optional(),
        image_tokens: tokens.nullable().optional(),
        accepted_prediction_tokens: tokens.nullable().optional(),
        rejected_prediction_tokens: tokens.nullable().optional(),
      })
      .nullable()
      .optional(),
    server_tool_use_details: z.looseObject({}).nullable().optional(),
    ...costShape,
  })
  .meta({ id: 'ChatUsage' });

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error']).nullable();
const errorSchema = z.looseObject({ code: z.int(), message: z.string(), metadata: z.looseObject({}).optional() });

const stated = {
  content: z.string().nullable().optional(),
  refusal: z.string().nullable().optional(),
  reasoning: z.string().nullable().optional(),
  reasoning_details: z.array(z.looseObject({ type: z.string() })).optional(),
  images: z.array(z.looseObject({ image_url: z.looseObject({ url: z.string() }) })).optional(),
  audio: z.looseObject({}).optional(),
  annotations: z.array(z.looseObject({ type: z.string() })).optional(),
};

const messageSchema = z.looseObject({
  role: z.literal('assistant'),
  ...stated,
  tool_calls: z
    .array(
      z.discriminatedUnion('type', [
        z.looseObject({
          id: z.string(),
          type: z.literal('function'),
          function: z.looseObject({ name: z.string(), arguments: z.string() }),
        }),
        z.looseObject({
          id: z.string(),
          type: z.literal('custom'),
          custom: z.looseObject({ name: z.string(), input: z.string() }),
        }),
      ]),
    )
    .optional(),
});

const choiceEnd = {
  native_finish_reason: z.string().nullable().optional(),
  logprobs: z.looseObject({}).nullable().optional(),
};

/** The whole response, status 200. */
export const chatResultSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    provider: z.string().optional(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: messageSchema,
        finish_reason: finishReason,
        ...choiceEnd,
        error: errorSchema.optional(),
      }),
    ),
    system_fingerprint: z.string().nullable(),
    service_tier: z.string().nullable().optional(),
    usage: usageSchema,
    service_metadata: serviceMetadataSchema.optional(),
  })
  .meta({ id: 'ChatResult' });

/** The data of one event of a stream; the last event's data is `[DONE]`. */
export const chatChunkSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion.chunk'),
    created: z.int(),
    model: z.string(),
    provider: z.string().optional(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({
          role: z.literal('assistant').optional(),
          ...stated,
          tool_calls: z
            .array(
              z.looseObject({
                index: z.int().min(0),
                id: z.string().optional(),
                type: z.enum(['function', 'custom']).optional(),
                function: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
                custom: z.looseObject({ name: z.string().optional(), input: z.string() }).optional(),
              }),
            )
            .optional(),
        }),
        finish_reason: finishReason,
        ...choiceEnd,
      }),
    ),
    system_fingerprint: z.string().nullable().optional(),
    service_tier: z.string().nullable().optional(),
    usage: usageSchema.nullable().optional(),
    error: errorSchema.optional(),
    service_metadata: serviceMetadataSchema.optional(),
    debug: z.looseObject({ echo_upstream_body: z.looseObject({}) }).optional(),
  })
  .meta({ id: 'ChatChunk' });
