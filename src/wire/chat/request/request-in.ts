import type { z } from 'zod';
import type { PluginRequest } from '../../../canonical/directives.ts';
import type { Extra, Warning } from '../../../canonical/extra.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest, ResponseFormat, Settings, Tool } from '../../../canonical/request.ts';
import { hasLongNumbers, isJsonObject, type Json } from '../../../lib/json.ts';
import type { ClientFormat } from '../../format.ts';
import { deprecationWarnings } from '../../gateway/deprecated.ts';
import { GATEWAY_FIELDS, decodeDirectives } from '../../gateway/directives.ts';
import { decodeSampling } from '../../gateway/sampling.ts';
import { compileSoon } from '../../gateway/validation/fast-schema.ts';
import { checkShape } from '../../gateway/validation/check-shape.ts';
import { keepNumbers, type PassthroughFields } from '../../gateway/keep-numbers.ts';
import { ephemeralBreakpoint, nestCacheControlRest } from './cache-control.ts';
import { decodeMessages } from './messages-in.ts';
import { asExtra, nestRest, restOf } from '../../extra.ts';
import { objectOf } from '../../json-fields.ts';
import { decodeReasoningSettings } from './thinking-in.ts';
import { warnOfCutGrammars } from './custom-tools.ts';
import { checkLegacyFunctions, decodeFunctionChoice, decodeFunctions } from './legacy-functions.ts';
import { chatRequestSchema, type ChatRequest } from './request-schema.ts';
import { decodeTools, decodeToolChoice } from './tools.ts';

const JSON_SCHEMA_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);
const RESPONSE_FORMAT_MEMBERS: ReadonlySet<string> = new Set(['type', 'json_schema', 'grammar']);

/** Members whose numbers are only written out again, beside those that the gateway does not know. */
const PASSTHROUGH_MEMBERS: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'response_format',
  'prediction',
  'prompt_cache_options',
  'audio',
  'image_config',
  'web_search_options',
  'cache_control',
  'reasoning',
  'seed',
]);

/** @throws GatewayError 400 with `issues`: see `ClientFormat.decodeRequest` */
export function createRequestDecoder(options: {
  readonly plugin: z.ZodType<PluginRequest>;
}): ClientFormat['decodeRequest'] {
  const schema = chatRequestSchema(options);
  compileSoon(schema);
  const known: ReadonlySet<string> = new Set([...Object.keys(schema.shape), ...GATEWAY_FIELDS]);
  const passthroughFields: PassthroughFields = {
    passesThrough: (member) => PASSTHROUGH_MEMBERS.has(member) || !known.has(member),
    numberIn: { reasoning: 'max_tokens' },
  };

  return (body, text, headers): GenerationRequest => {
    const checked = checkShape(schema, body, { text });
    checkTogether(checked);
    const parsed = hasLongNumbers(text) ? keepNumbers(checked, text, passthroughFields) : checked;
    const tools = parsed.functions ? decodeFunctions(parsed.functions) : decodeTools(parsed.tools ?? []);
    const { turns, warnings } = decodeMessages(parsed.messages);
    const settings = decodeSettings(parsed, tools);
    const directives = decodeDirectives(parsed, headers, {
      model: parsed.model,
      user: parsed.safety_identifier ?? parsed.user,
      metadata: parsed.metadata,
    });
    return {
      format: 'chat',
      delivery: parsed.stream === true ? 'stream' : 'whole',
      turns,
      tools,
      settings,
      directives: parsed.functions ? { ...directives, legacyCalls: true } : directives,
      ...decodeRest(parsed, known),
      warnings: [...deprecationWarnings(parsed), ...warnOfSettings(parsed), ...warnOfCutGrammars(tools), ...warnings],
    };
  };
}

/** Rules that bind several members. @spec chat-30, chat-34 */
function checkTogether(parsed: ChatRequest): void {
  checkLegacyFunctions(parsed);
  if (typeof parsed.top_logprobs === 'number' && parsed.logprobs !== true)
    throw invalid('top_logprobs', 'needs logprobs to be true');
  if (parsed.modalities?.includes('audio') && parsed.stream !== true)
    throw invalid('modalities', 'audio output needs stream to be true');
}

function decodeSettings(parsed: ChatRequest, tools: readonly Tool[]): Settings {
  const { service_tier: tier, response_format: format } = parsed;
  return withoutAbsent({
    // The newer name wins. @spec chat-31
    maxTokens: parsed.max_completion_tokens ?? parsed.max_tokens,
    maxTokensMember: typeof parsed.max_completion_tokens === 'number' ? 'max_completion_tokens' : undefined,
    ...decodeSampling(parsed),
    modalities: parsed.modalities,
    ...decodeCalling(parsed, tools),
    responseFormat: format === undefined ? undefined : decodeResponseFormat(format),
    prediction: objectOf(parsed.prediction),
    reasoning: decodeReasoningSettings(parsed),
    verbosity: parsed.verbosity,
    serviceTier: tier === 'fast' ? 'priority' : tier,
    promptCacheKey: parsed.prompt_cache_key,
    promptCacheOptions: objectOf(parsed.prompt_cache_options),
    cache: parsed.cache_control === undefined ? undefined : ephemeralBreakpoint(parsed.cache_control),
    imageConfig: parsed.image_config === undefined ? undefined : decodeImageConfig(parsed.image_config),
    audio: objectOf(parsed.audio),
    webSearchOptions: objectOf(parsed.web_search_options),
  });
}

/** A caller of `functions` reads one call, so no more than one is requested. */
function decodeCalling(
  { functions, function_call: call, tool_choice: choice, parallel_tool_calls: parallel }: ChatRequest,
  tools: readonly Tool[],
): Pick<Settings, 'toolChoice'> & { readonly parallelToolCalls?: boolean | null | undefined } {
  if (!functions)
    return {
      parallelToolCalls: parallel,
      ...(choice !== undefined && { toolChoice: decodeToolChoice(choice, tools) }),
    };
  const toolChoice = call ? decodeFunctionChoice(call, tools) : undefined;
  return { ...(toolChoice && { toolChoice }), ...(tools.length > 0 && { parallelToolCalls: false }) };
}

/** Keys vary by model, and so do values. @spec chat-42 */
function decodeImageConfig(config: unknown): Settings['imageConfig'] {
  const members: Record<string, Json> = {};
  for (const [member, value] of Object.entries(objectOf(config) ?? {})) {
    if (value !== undefined) members[member] = value;
  }
  return members;
}

/** A setting that is null or undefined was not set. */
function withoutAbsent(settings: { readonly [Name in keyof Settings]: Settings[Name] | null | undefined }): Settings {
  const given: Readonly<Record<string, unknown>> = settings;
  const requested: Record<string, unknown> = {};
  // Most are absent: a list of all of them with their names would be made only to be thrown away.
  for (const name in given) {
    const value = given[name];
    if (value !== null && value !== undefined) requested[name] = value;
  }
  return requested;
}

function decodeResponseFormat(format: NonNullable<ChatRequest['response_format']>): ResponseFormat {
  if (format.type === 'grammar') return { type: 'grammar', grammar: format.grammar };
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name,
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(schema) && { schema }),
    ...(typeof strict === 'boolean' && { strict }),
    ...asExtra('chat', restOf(format.json_schema, JSON_SCHEMA_MEMBERS)),
  };
}

/** Members of the body, and of objects in it that have no place of their own for leftovers. */
function decodeRest(parsed: ChatRequest, known: ReadonlySet<string>): { readonly extra?: Extra } {
  const { response_format: format } = parsed;
  const inner = format && restOf(format, RESPONSE_FORMAT_MEMBERS);
  return asExtra(
    'chat',
    nestCacheControlRest(nestRest(restOf(parsed, known), 'response_format', inner), parsed.cache_control),
  );
}

function warnOfSettings(parsed: ChatRequest): readonly Warning[] {
  const warnings: Warning[] = [];
  if (typeof parsed.max_tokens === 'number')
    warnings.push({ code: 'field-changed', path: 'max_tokens', message: 'is deprecated: use max_completion_tokens' });
  if (parsed.functions)
    warnings.push({ code: 'field-changed', path: 'functions', message: 'is deprecated: use tools' });
  return warnings;
}
