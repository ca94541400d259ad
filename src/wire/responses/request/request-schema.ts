import { z } from 'zod';
import type { PluginRequest } from '../../../canonical/directives.ts';
import { EFFORTS } from '../../../canonical/request.ts';
import type { Json } from '../../../lib/json.ts';
import { gatewayShape, modelSlug } from '../../gateway/directives.ts';
import { metadata } from '../../gateway/metadata.ts';
import { samplingShape } from '../../gateway/sampling.ts';

const TOOL_CALLS_MAX = 30;
const USER_CHARS_MAX = 256;
const SAFETY_IDENTIFIER_CHARS_MAX = 128;
const NAME_CHARS_MAX = 64;
const NAME = /^[a-zA-Z0-9_-]+$/;

/** Whatever JSON holds: a request came out of a parser. */
const json: z.ZodType<Json> = z.any();
const anyObject = z.record(z.string(), z.unknown());
const effort = z.enum(EFFORTS).nullish();
const summary = z.enum(['auto', 'concise', 'detailed']).nullish();
const tokenLimit = z.int().min(1).nullish();
const shortName = z
  .string()
  .min(1)
  .max(NAME_CHARS_MAX)
  .regex(NAME, { error: 'must consist of letters, digits, "_" and "-"' });

const reasoning = z.looseObject({
  effort,
  summary,
  // What `summary` was called before.
  generate_summary: summary,
  max_tokens: z.int().min(0).nullish(),
  exclude: z.boolean().nullish(),
  enabled: z.boolean().nullish(),
  mode: z.enum(['standard', 'pro']).nullish(),
  context: z.enum(['auto', 'all_turns', 'current_turn']).nullish(),
});

const plainFormat = z.looseObject({ type: z.enum(['text', 'json_object', 'python']) });
const grammarFormat = z.looseObject({ type: z.literal('grammar'), grammar: z.string() });
const schemaShape = { name: shortName, description: z.string().nullish(), strict: z.boolean().nullish() };

/** Flat, where chat nests the schema. */
const format = z.discriminatedUnion('type', [
  plainFormat,
  z.looseObject({ type: z.literal('json_schema'), ...schemaShape, schema: anyObject }),
  grammarFormat,
]);
const chatFormat = z.discriminatedUnion('type', [
  plainFormat,
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ ...schemaShape, schema: anyObject.nullish() }),
  }),
  grammarFormat,
]);

const verbosity = z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish();

const requestShape = {
  model: modelSlug.optional(),
  // Items, tools and the choice among them have so many spellings that code of its own checks them.
  input: json.optional(),
  instructions: z.union([z.string(), z.array(json)]).optional(),
  tools: z.array(json).optional(),
  tool_choice: json.optional(),
  parallel_tool_calls: z.boolean().optional(),
  max_tool_calls: z.int().min(1).max(TOOL_CALLS_MAX).optional(),
  max_output_tokens: tokenLimit,
  max_completion_tokens: tokenLimit,
  max_tokens: tokenLimit,
  reasoning: reasoning.optional(),
  reasoning_effort: effort,
  include_reasoning: z.boolean().optional(),
  text: z.looseObject({ format: format.nullish(), verbosity }).optional(),
  response_format: chatFormat.optional(),
  ...samplingShape,
  prediction: anyObject.optional(),
  web_search_options: anyObject.optional(),
  stream: z.boolean().optional(),
  stream_options: anyObject.optional(),
  truncation: z.enum(['auto', 'disabled']).optional(),
  include: z.array(z.string()).optional(),
  store: z.boolean().optional(),
  previous_response_id: z.string().min(1).optional(),
  background: z.boolean().optional(),
  context_management: z.array(z.looseObject({ type: z.string() })).optional(),
  metadata: metadata.optional(),
  client_metadata: anyObject.optional(),
  user: z.string().max(USER_CHARS_MAX).optional(),
  safety_identifier: z.string().max(SAFETY_IDENTIFIER_CHARS_MAX).optional(),
  prompt_cache_key: z.string().optional(),
  prompt_cache_options: z
    .looseObject({ mode: z.enum(['explicit', 'implicit']).nullish(), ttl: z.string().nullish() })
    .optional(),
  prompt_cache_retention: z.enum(['in_memory', '24h']).optional(),
  cache_control: z.looseObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).nullish() }).optional(),
  service_tier: z.string().min(1).optional(),
  modalities: z.array(z.enum(['text', 'image', 'audio'])).optional(),
  image_config: z.record(z.string(), z.union([z.string(), z.number(), z.array(z.unknown())])).optional(),
};

/** Members of the body that mean nothing to the gateway, and are sent to no upstream. */
const IGNORED = ['type', 'generate', 'conversation', 'prompt', 'messages', 'client_metadata'] as const;

export const REQUEST_MEMBERS: ReadonlySet<string> = new Set([...Object.keys(requestShape), ...IGNORED]);

/** Body of `POST /responses`, without its members that are null: those are absent. Unknown members stay in the result. */
export function responsesRequestSchema({ plugin }: { readonly plugin: z.ZodType<PluginRequest> }) {
  return z.looseObject({ ...gatewayShape({ plugin }), ...requestShape });
}

export type ResponsesRequest = z.output<ReturnType<typeof responsesRequestSchema>>;
