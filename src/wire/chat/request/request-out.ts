import type { GenerationRequest, ResponseFormat, Settings } from '../../../canonical/request.ts';
import { parameterOfFormat, supportsParameter } from '../../../canonical/supports-parameter.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { PARAMETERS } from '../parameters.ts';
import type { Dialect, EncodedRequest, EncodeTarget } from '../../format.ts';
import { keepCacheControlRest, encodeCacheControl } from './cache-control.ts';
import { createEncodeContext, type EncodeContext } from './encode-context.ts';
import { encodeMessages } from './messages-out.ts';
import { warnOfDroppedFields, type SupportedFields } from '../../dropped-fields.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import { strictnessOf } from '../../strict-schema.ts';
import { encodeNativeWebSearch } from './native-web-search.ts';
import { encodeReasoningSettings, withoutForcedReasoning } from './thinking-out.ts';
import { renameTools } from './tool-names.ts';
import { JSON_INSTRUCTION, schemaInstruction } from '../../gateway/json-instruction.ts';
import { gatewayTier } from '../../gateway/service-tier.ts';
import { encodeTools, encodeToolChoice } from './tools.ts';

type Members = Record<string, Json | undefined>;

/** Body members that go by other names in the catalog's vocabulary. */
const PARAMETER_OF_MEMBER: ReadonlyMap<string, string> = new Map([
  ['reasoning_effort', 'reasoning'],
  ['thinking', 'reasoning'],
  ['enable_thinking', 'reasoning'],
  ['thinking_budget', 'reasoning'],
  ['chat_template_kwargs', 'reasoning'],
  ['random_seed', 'seed'],
]);

/** The encoder decides by its type. */
const RESPONSE_FORMAT = 'response_format';

/** Members that mean nothing without `tools`. */
const TOOL_OPTIONS: ReadonlySet<string> = new Set(['tool_choice', 'parallel_tool_calls']);

/** The messages format gives a schema no name, this one demands one. */
const SCHEMA_NAME = 'response';

/** @spec translate-1 */
export function encodeRequest(originalRequest: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const { request: renamed, toolNames } = renameTools(originalRequest);
  const context = createEncodeContext(originalRequest.format, target);
  const request = withoutForcedReasoning(renamed, context);
  const { endUserMember, streamUsage } = target.dialect;
  const stream = request.delivery === 'stream';
  const own: JsonObject = {
    model: target.model,
    messages: withInstruction(encodeMessages(request, context), request.settings.responseFormat, context),
    ...encodeOptions(request, context),
    ...(endUserMember !== undefined && { [endUserMember]: target.endUserId }),
    ...(stream && { stream: true }),
    ...(stream && streamUsage !== false && { stream_options: { include_usage: true } }),
  };
  const rest = keepCacheControlRest(fieldsOf(request, 'chat'), target.dialect);
  warnOfDroppedFields(originalRequest, supportedFieldsOf(originalRequest, target.dialect), {
    add: (code, path, message) => context.warn(code, path, message),
  });
  const body = withExtra(own, rest && keepSupported(rest, context));
  return { body, headers: {}, warnings: context.warnings, ...(toolNames && { toolNames }) };
}

/** On tools only one spelling of a breakpoint is known. @spec chat-10 */
function supportedFieldsOf(
  { format }: GenerationRequest,
  { cacheBreakpoints, reasoningSettings }: Dialect,
): SupportedFields {
  const marks = cacheBreakpoints === 'cache_control' ? 'all' : cacheBreakpoints === undefined ? 'none' : 'content';
  const takes: SupportedFields = { format: 'chat', cacheBreakpoints: marks };
  if (reasoningSettings !== 'reasoning') return { ...takes, reasoning: [] };
  return format === 'chat' ? takes : { ...takes, reasoning: ['summary', 'mode', 'context'] };
}

/** Options in the order of the body. Unset ones are left out, and so are those that the endpoint's list omits, with a warning. */
function encodeOptions(request: GenerationRequest, context: EncodeContext): JsonObject {
  const { target } = context;
  const { settings } = request;
  const { serviceTier: tier, responseFormat: format } = settings;
  const responseFormat = format && encodeResponseFormat(format, request.format, context);
  const search = searchOptionsOf(settings, context);
  const reasoning = settings.reasoning && encodeReasoningSettings(settings.reasoning, context, settings.maxTokens);
  const toolOptions = encodeToolOptions(request, context);
  const options = new SupportedOptions(context, reasoning?.['reasoning_effort']);
  options.add(target.dialect.maxCompletionTokens === true ? 'max_completion_tokens' : 'max_tokens', settings.maxTokens);
  options.add('temperature', settings.temperature);
  options.add('top_p', settings.topP);
  options.add('top_k', settings.topK);
  options.add('top_a', settings.topA);
  options.add('min_p', settings.minP);
  options.add('frequency_penalty', settings.frequencyPenalty);
  options.add('presence_penalty', settings.presencePenalty);
  options.add('repetition_penalty', settings.repetitionPenalty);
  options.add('logit_bias', settings.logitBias);
  options.add('logprobs', settings.logprobs);
  options.add('top_logprobs', settings.topLogprobs);
  options.add('stop', settings.stop);
  options.add(target.dialect.seedMember ?? 'seed', settings.seed);
  options.add('modalities', settings.modalities);
  options.add('audio', settings.audio);
  options.add(RESPONSE_FORMAT, responseFormat);
  options.add('prediction', settings.prediction);
  options.add('verbosity', settings.verbosity);
  options.add('service_tier', tier === undefined ? undefined : gatewayTier(tier));
  options.add('prompt_cache_key', settings.promptCacheKey);
  options.add('prompt_cache_options', settings.promptCacheOptions);
  options.add('image_config', settings.imageConfig);
  options.add('web_search_options', search);
  options.addAll(reasoning);
  options.addAll(toolOptions);
  if (target.dialect.cacheBreakpoints === 'cache_control')
    options.addAll(encodeCacheControl(settings.cache, target.dialect));
  return options.members;
}

/** The caller's own settings of the search win, member by member. */
function searchOptionsOf(
  { webSearchOptions, nativeWebSearch }: Settings,
  context: EncodeContext,
): JsonObject | undefined {
  if (nativeWebSearch === undefined) return webSearchOptions;
  const requested = encodeNativeWebSearch(nativeWebSearch, context);
  return requested === undefined ? webSearchOptions : { ...requested, ...webSearchOptions };
}

/** Options about tools go only with tools, unless the caller's own format sent them so. */
function encodeToolOptions(request: GenerationRequest, context: EncodeContext): Members {
  const { toolChoice, parallelToolCalls } = request.settings;
  const tools = encodeTools(request.tools, context);
  if (tools.length === 0 && (request.tools.length > 0 || request.format !== 'chat')) return {};
  return {
    tools: tools.length === 0 ? undefined : tools,
    tool_choice: toolChoice && encodeToolChoice(toolChoice, tools, context),
    parallel_tool_calls: parallelToolCalls,
  };
}

function encodeResponseFormat(
  format: ResponseFormat,
  caller: GenerationRequest['format'],
  context: EncodeContext,
): JsonObject | undefined {
  const parameter = parameterOfFormat(format) ?? RESPONSE_FORMAT;
  if (!isSupported(parameter, context.target)) {
    context.warn('field-dropped', 'response_format', `the endpoint does not support ${format.type}`);
    return undefined;
  }
  if (format.type === 'grammar') return { type: 'grammar', grammar: format.grammar };
  if (format.type !== 'json_schema') return { type: format.type };
  if (context.target.dialect.jsonSchema === false) return { type: 'json_object' };
  const strict = strictnessOf(format, caller, context.target.dialect);
  const own: JsonObject = {
    name: format.name ?? SCHEMA_NAME,
    ...(format.description !== undefined && { description: format.description }),
    ...(format.schema !== undefined && { schema: format.schema }),
    ...(strict !== undefined && { strict }),
  };
  return { type: 'json_schema', json_schema: withExtra(own, fieldsOf(format, 'chat')) };
}

/** A schema as an instruction, after those of the caller, for hosts that know JSON mode but no schemas. @spec translate-23 */
function withInstruction(
  messages: readonly JsonObject[],
  format: ResponseFormat | undefined,
  context: EncodeContext,
): readonly JsonObject[] {
  if (format?.type !== 'json_schema' || context.target.dialect.jsonSchema !== false) return messages;
  if (!isSupported(parameterOfFormat(format) ?? RESPONSE_FORMAT, context.target)) return messages;
  context.warn('field-changed', 'response_format', 'the schema is put into the prompt, which does not bind the model');
  const words = format.schema === undefined ? JSON_INSTRUCTION : schemaInstruction(format.schema, format.description);
  const first = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  return messages.toSpliced(first < 0 ? messages.length : first, 0, { role: 'system', content: words });
}

/** The members of a request that its endpoint takes. */
class SupportedOptions {
  readonly members: Members = {};
  readonly #context: EncodeContext;
  readonly #effort: Json | undefined;
  readonly #toolsSupported: boolean;

  /** @param effort that the request asks for */
  constructor(context: EncodeContext, effort: Json | undefined) {
    this.#context = context;
    this.#effort = effort;
    this.#toolsSupported = isSupported('tools', context.target);
  }

  /** @spec route-20 */
  add(member: string, value: Json | undefined): void {
    if (value === undefined) return;
    const { target } = this.#context;
    if (isRefused(member, this.#effort, target.dialect)) {
      this.#context.warn('field-dropped', member, 'the model does not take this parameter');
      return;
    }
    const supported = member === RESPONSE_FORMAT || isSupported(member, target);
    if (supported && (this.#toolsSupported || !TOOL_OPTIONS.has(member))) this.members[member] = value;
    else this.#context.warn('field-dropped', member, 'the endpoint does not support this parameter');
  }

  addAll(members: Members | undefined): void {
    for (const member in members) this.add(member, members[member]);
  }
}

/** Members that the endpoint supports, beside the unknown members of the caller's body. */
function keepSupported(members: JsonObject, context: EncodeContext): JsonObject {
  const options = new SupportedOptions(context, members['reasoning_effort']);
  options.addAll(members);
  return options.members;
}

function isRefused(member: string, effort: Json | undefined, dialect: Dialect): boolean {
  if (dialect.refused?.has(member) === true) return true;
  const reasons = effort === undefined ? dialect.reasonsByDefault === true : effort !== 'none';
  return reasons && dialect.refusedWhileReasoning?.has(member) === true;
}

function isSupported(member: string, { supportedParameters: supported }: EncodeTarget): boolean {
  if (supported === undefined) return true;
  const parameter = PARAMETER_OF_MEMBER.get(member) ?? member;
  return supportsParameter(supported, parameter) || !PARAMETERS.has(parameter);
}
