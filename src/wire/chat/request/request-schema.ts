import { z } from 'zod';
import type { PluginRequest } from '../../../canonical/directives.ts';
import { EFFORTS } from '../../../canonical/request.ts';
import { MESSAGES_MAX } from '../../gateway/messages-max.ts';
import { gatewayShape, modelSlug } from '../../gateway/directives.ts';
import { metadata } from '../../gateway/metadata.ts';
import { samplingShape } from '../../gateway/sampling.ts';
import { cacheControl, message } from './message-schema.ts';
import { anyObject, legacyChoice, legacyFunctions, shortName, tool, toolChoice } from './tool-schema.ts';

const effort = z.enum(EFFORTS).nullish();
const tokenLimit = z.int().min(1).nullish();

/** @spec chat-35 */
const responseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['text', 'json_object', 'python']) }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({
      name: shortName,
      description: z.string().nullish(),
      schema: anyObject.nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
  z.looseObject({ type: z.literal('grammar'), grammar: z.string() }),
]);

/** @spec reasoning-1 */
const reasoning = z.looseObject({
  effort,
  summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
  max_tokens: z.int().min(0).nullish(),
  exclude: z.boolean().nullish(),
  enabled: z.boolean().nullish(),
  mode: z.enum(['standard', 'pro']).nullish(),
  context: z.enum(['auto', 'all_turns', 'current_turn']).nullish(),
});

const prediction = z.looseObject({
  type: z.literal('content'),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.literal('text'), text: z.string() }))]),
});

/**
 * The body of `POST /chat/completions`. Null is refused where a member is not nullable, and is the same
 * as absent elsewhere (@spec request-13). Unknown members stay in the result. @spec chat-29
 */
export function chatRequestSchema({ plugin }: { readonly plugin: z.ZodType<PluginRequest> }) {
  return z.looseObject({
    ...gatewayShape({ plugin }),
    messages: z.array(message).min(1).max(MESSAGES_MAX),
    model: modelSlug.optional(),
    stream: z.boolean().optional(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    ...samplingShape,
    max_tokens: tokenLimit,
    max_completion_tokens: tokenLimit,
    metadata: metadata.optional(),
    modalities: z.array(z.enum(['text', 'image', 'audio'])).optional(),
    parallel_tool_calls: z.boolean().nullish(),
    tools: z.array(tool).optional(),
    tool_choice: toolChoice.optional(),
    functions: legacyFunctions.nullish(),
    function_call: legacyChoice.nullish(),
    response_format: responseFormat.optional(),
    prediction: prediction.nullish(),
    reasoning: reasoning.optional(),
    reasoning_effort: effort,
    include_reasoning: z.boolean().nullish(),
    service_tier: z.enum(['auto', 'default', 'fast', 'flex', 'priority', 'scale']).nullish(),
    user: z.string().optional(),
    safety_identifier: z.string().nullish(),
    prompt_cache_key: z.string().nullish(),
    prompt_cache_options: z.looseObject({ mode: z.literal('explicit'), ttl: z.string().nullish() }).nullish(),
    cache_control: cacheControl.optional(),
    image_config: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.unknown())])).optional(),
    audio: anyObject.nullish(),
    verbosity: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
    web_search_options: anyObject.nullish(),
  });
}

export type ChatRequest = z.output<ReturnType<typeof chatRequestSchema>>;
