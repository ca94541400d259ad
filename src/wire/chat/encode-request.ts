import type { GenerationRequest, ResponseFormat, Settings } from '../../canonical/request.ts';
import { parameterOfFormat, supportsParameter } from '../../canonical/supports-parameter.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { PARAMETERS } from './parameters.ts';
import type { Dialect, EncodedRequest, EncodeTarget } from '../format.ts';
import { keepMarkRest, writeCacheMark } from './cache-marks.ts';
import { createEncodeContext, type EncodeContext } from './encode-context.ts';
import { encodeMessages } from './encode-messages.ts';
import { warnOfDroppedExtras, type Takes } from '../dropped-extras.ts';
import { fieldsOf, withExtra } from '../extra.ts';
import { strictnessOf } from '../strict-schema.ts';
import { encodeOwnSearch } from './own-search.ts';
import { encodeReasoningSettings } from './encode-reasoning-settings.ts';
import { renameTools } from './rename-tools.ts';
import { JSON_INSTRUCTION, schemaInstruction } from '../gateway/json-instruction.ts';
import { gatewayTier } from '../gateway/service-tier.ts';
import { encodeTools, encodeToolChoice } from './tools.ts';
import { withoutForcedReasoning } from './unforced-reasoning.ts';

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

/** Judged by its type where it is drawn. */
const RESPONSE_FORMAT = 'response_format';

/** Members that mean nothing without `tools`. */
const TOOL_OPTIONS: ReadonlySet<string> = new Set(['tool_choice', 'parallel_tool_calls']);

/** The messages format gives a schema no name, this one demands one. */
const SCHEMA_NAME = 'response';

/** @source generation.md 2, 11.1 column C */
export function encodeRequest(asked: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const { request: renamed, toolNames } = renameTools(asked);
  const context = createEncodeContext(target);
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
  const rest = keepMarkRest(fieldsOf(request, 'chat'), target.dialect);
  warnOfDroppedExtras(asked, takesOf(asked, target.dialect), {
    add: (code, path, message) => context.warn(code, path, message),
  });
  const body = withExtra(own, rest && keepSupported(rest, context));
  return { body, headers: {}, warnings: context.warnings, ...(toolNames && { toolNames }) };
}

/** On tools only one spelling of a breakpoint is known. @source generation.md 1.2 */
function takesOf({ format }: GenerationRequest, { cacheMarks, reasoningSettings }: Dialect): Takes {
  const marks = cacheMarks === 'cache_control' ? 'all' : cacheMarks === undefined ? 'none' : 'content';
  const takes: Takes = { format: 'chat', cacheMarks: marks };
  if (reasoningSettings !== 'reasoning') return { ...takes, reasoning: [] };
  return format === 'chat' ? takes : { ...takes, reasoning: ['summary', 'mode', 'context'] };
}

/** Order is that of the body. What was not asked for is left out, and what the endpoint's list omits, which is recorded. */
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
  if (target.dialect.cacheMarks === 'cache_control') options.addAll(writeCacheMark(settings.cache, target.dialect));
  return options.members;
}

/** What the caller itself says of the search counts, member by member. */
function searchOptionsOf({ webSearchOptions, ownSearch }: Settings, context: EncodeContext): JsonObject | undefined {
  if (ownSearch === undefined) return webSearchOptions;
  const asked = encodeOwnSearch(ownSearch, context);
  return asked === undefined ? webSearchOptions : { ...asked, ...webSearchOptions };
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

/** A schema in words, after the caller's own instructions, for hosts that know JSON but no schemas. @source generation.md 2.3 */
function withInstruction(
  messages: readonly JsonObject[],
  format: ResponseFormat | undefined,
  context: EncodeContext,
): readonly JsonObject[] {
  if (format?.type !== 'json_schema' || context.target.dialect.jsonSchema !== false) return messages;
  if (!isSupported(parameterOfFormat(format) ?? RESPONSE_FORMAT, context.target)) return messages;
  context.warn('field-changed', 'response_format', 'the model is asked for the schema in words, which do not bind it');
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

  /** @source decisions.md 8 */
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

/** Beside what the caller's body brings along of members that nobody names. */
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
