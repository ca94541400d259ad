import { invalid } from '../../../canonical/gateway-error.ts';
import type { ResponseFormat, Settings } from '../../../canonical/request.ts';
import { isJsonObject, type Json } from '../../../lib/json.ts';
import { asExtra, restOf } from '../../extra.ts';
import { decodeSampling } from '../../gateway/sampling.ts';
import { objectOf } from '../../json-fields.ts';
import { decodeReasoningSettings } from './thinking-in.ts';
import type { ResponsesRequest } from './request-schema.ts';
import { decodeToolChoice } from './tool-choice-in.ts';
import type { DecodedTools } from './tools-in.ts';

const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'schema', 'strict']);
const LOGPROBS = 'message.output_text.logprobs';

/** @throws GatewayError 400 for members that do not go together, and for a choice of a tool that is not there */
export function decodeSettings(parsed: ResponsesRequest, tools: DecodedTools, include: ReadonlySet<string>): Settings {
  const { service_tier: tier, top_logprobs: topLogprobs, cache_control: cache } = parsed;
  if (parsed.modalities?.includes('audio') === true)
    throw invalid('modalities', 'audio output is not supported by this endpoint');
  const wantsLogprobs = (topLogprobs ?? 0) > 0 || include.has(LOGPROBS);
  const cacheTtl = cache?.ttl ?? undefined;
  return withoutAbsent({
    maxTokens: parsed.max_output_tokens ?? parsed.max_completion_tokens ?? parsed.max_tokens,
    ...decodeSampling(parsed),
    // Chat's upstreams refuse a count of them, also of none, where they are not requested.
    ...(wantsLogprobs ? { logprobs: true } : { topLogprobs: undefined }),
    modalities: parsed.modalities,
    parallelToolCalls: parsed.parallel_tool_calls,
    toolChoice: decodeToolChoice(parsed.tool_choice, tools),
    responseFormat: decodeFormat(parsed),
    prediction: objectOf(parsed.prediction),
    reasoning: decodeReasoningSettings(parsed),
    verbosity: parsed.text?.verbosity,
    serviceTier: tier === 'fast' ? 'priority' : tier,
    promptCacheKey: parsed.prompt_cache_key,
    promptCacheOptions: objectOf(parsed.prompt_cache_options),
    cache: cache && { kind: 'ephemeral', ...(cacheTtl !== undefined && { ttl: cacheTtl }) },
    imageConfig: parsed.image_config && decodeImageConfig(parsed.image_config),
    webSearchOptions: objectOf(parsed.web_search_options),
  });
}

/** A setting that is null or undefined was not set. */
function withoutAbsent(settings: { readonly [Name in keyof Settings]: Settings[Name] | null | undefined }): Settings {
  const given: Readonly<Record<string, unknown>> = settings;
  const requested: Record<string, unknown> = {};
  for (const name in given) {
    const value = given[name];
    if (value !== null && value !== undefined) requested[name] = value;
  }
  return requested;
}

/** Flat, or in chat's spelling beside it. */
function decodeFormat({ text, response_format: chats }: ResponsesRequest): ResponseFormat | undefined {
  const format = text?.format ?? undefined;
  if (format !== undefined && chats !== undefined)
    throw invalid('text.format', 'cannot be combined with response_format');
  const given = format ?? chats;
  if (given === undefined) return undefined;
  if (given.type === 'grammar') return { type: 'grammar', grammar: given.grammar };
  if (given.type !== 'json_schema') return { type: given.type };
  const shape = 'json_schema' in given && isNested(given) ? given.json_schema : given;
  const { name, description, schema, strict } = shape;
  return {
    type: 'json_schema',
    ...(typeof name === 'string' && { name }),
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(schema) && { schema }),
    ...(typeof strict === 'boolean' && { strict }),
    ...asExtra('responses', restOf(shape, SCHEMA_MEMBERS)),
  };
}

type Given =
  | NonNullable<ResponsesRequest['response_format']>
  | NonNullable<NonNullable<ResponsesRequest['text']>['format']>;
type Nested = Extract<NonNullable<ResponsesRequest['response_format']>, { type: 'json_schema' }>;

function isNested(given: Given): given is Nested {
  return isJsonObject(given['json_schema']);
}

/** Keys vary by model, and so do values. */
function decodeImageConfig(config: unknown): Settings['imageConfig'] {
  const members: Record<string, Json> = {};
  for (const [member, value] of Object.entries(objectOf(config) ?? {}))
    if (value !== undefined) members[member] = value;
  return members;
}
