import type { z } from 'zod';
import type { PluginRequest } from '../../canonical/directives.ts';
import type { Extra, Warning } from '../../canonical/extra.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import type { GenerationRequest, ResponseFormat, Settings, Tool } from '../../canonical/request.ts';
import { hasLongNumbers, isJsonObject, type Json } from '../../lib/json.ts';
import type { ClientFormat } from '../format.ts';
import { deprecationWarnings } from '../gateway/deprecated.ts';
import { GATEWAY_FIELDS, readDirectives } from '../gateway/directives.ts';
import { compileSoon } from '../gateway/fast-schema.ts';
import { checkShape } from '../gateway/issues.ts';
import { keepNumbers, type Travellers } from '../gateway/keep-numbers.ts';
import { ephemeralMark, nestMarkRest } from './cache-marks.ts';
import { decodeMessages } from './decode-messages.ts';
import { asExtra, nestRest, restOf } from '../extra.ts';
import { objectOf } from '../members.ts';
import { decodeReasoningSettings } from './reasoning-settings.ts';
import { chatRequestSchema, type ChatRequest } from './schema.ts';
import { decodeTools, decodeToolChoice } from './tools.ts';

const JSON_SCHEMA_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);
const RESPONSE_FORMAT_MEMBERS: ReadonlySet<string> = new Set(['type', 'json_schema', 'grammar']);

/** Members whose numbers are only written out again, beside those that nobody here knows. */
const TRAVELLING_MEMBERS: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  'tool_choice',
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
  const travellers: Travellers = {
    travels: (member) => TRAVELLING_MEMBERS.has(member) || !known.has(member),
    numberIn: { reasoning: 'max_tokens' },
  };

  return (body, text, headers): GenerationRequest => {
    const checked = checkShape(schema, body);
    checkTogether(checked);
    const parsed = hasLongNumbers(text) ? keepNumbers(checked, text, travellers) : checked;
    const tools = decodeTools(parsed.tools ?? []);
    const { turns, warnings } = decodeMessages(parsed.messages);
    const settings = decodeSettings(parsed, tools);
    return {
      format: 'chat',
      delivery: parsed.stream === true ? 'stream' : 'whole',
      turns,
      tools,
      settings,
      directives: readDirectives(parsed, headers, {
        model: parsed.model,
        user: parsed.user,
        metadata: parsed.metadata,
      }),
      ...decodeRest(parsed, known),
      warnings: [...deprecationWarnings(parsed), ...warnOfSettings(parsed), ...warnings],
    };
  };
}

/** Rules that bind several members. @source decisions.md 7, generation.md 2.4 `audio` */
function checkTogether(parsed: ChatRequest): void {
  if (typeof parsed.top_logprobs === 'number' && parsed.logprobs !== true)
    throw invalid('top_logprobs', 'needs logprobs to be true');
  if (parsed.modalities?.includes('audio') && parsed.stream !== true)
    throw invalid('modalities', 'audio output needs stream to be true');
}

function decodeSettings(parsed: ChatRequest, tools: readonly Tool[]): Settings {
  const { stop, service_tier: tier, tool_choice: choice, response_format: format } = parsed;
  return withoutAbsent({
    // The newer name wins. generation.md 2.4
    maxTokens: parsed.max_completion_tokens ?? parsed.max_tokens,
    maxTokensMember: typeof parsed.max_completion_tokens === 'number' ? 'max_completion_tokens' : undefined,
    temperature: parsed.temperature,
    topP: parsed.top_p,
    topK: parsed.top_k,
    topA: parsed.top_a,
    minP: parsed.min_p,
    frequencyPenalty: parsed.frequency_penalty,
    presencePenalty: parsed.presence_penalty,
    repetitionPenalty: parsed.repetition_penalty,
    logitBias: parsed.logit_bias,
    logprobs: parsed.logprobs,
    topLogprobs: parsed.top_logprobs,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed: parsed.seed,
    modalities: parsed.modalities,
    parallelToolCalls: parsed.parallel_tool_calls,
    toolChoice: choice === undefined ? undefined : decodeToolChoice(choice, tools),
    responseFormat: format === undefined ? undefined : decodeResponseFormat(format),
    prediction: objectOf(parsed.prediction),
    reasoning: decodeReasoningSettings(parsed),
    verbosity: parsed.verbosity,
    serviceTier: tier === 'fast' ? 'priority' : tier,
    promptCacheKey: parsed.prompt_cache_key,
    promptCacheOptions: objectOf(parsed.prompt_cache_options),
    cache: parsed.cache_control === undefined ? undefined : ephemeralMark(parsed.cache_control),
    imageConfig: decodeImageConfig(parsed.image_config),
    audio: objectOf(parsed.audio),
    webSearchOptions: objectOf(parsed.web_search_options),
  });
}

/** Keys vary by model, and so do values. @source generation.md 2.4 `image_config` */
function decodeImageConfig(config: unknown): Settings['imageConfig'] {
  const members: Record<string, Json> = {};
  for (const [member, value] of Object.entries(objectOf(config) ?? {})) {
    if (value !== undefined) members[member] = value;
  }
  return config === undefined ? undefined : members;
}

/** A setting that is null or undefined was not asked for. */
function withoutAbsent(settings: { readonly [Name in keyof Settings]: Settings[Name] | null | undefined }): Settings {
  const given: Readonly<Record<string, unknown>> = settings;
  const asked: Record<string, unknown> = {};
  // Most are absent: a list of all of them with their names would be made only to be thrown away.
  for (const name in given) {
    const value = given[name];
    if (value !== null && value !== undefined) asked[name] = value;
  }
  return asked;
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
  return asExtra('chat', nestMarkRest(nestRest(restOf(parsed, known), 'response_format', inner), parsed.cache_control));
}

function warnOfSettings(parsed: ChatRequest): readonly Warning[] {
  if (typeof parsed.max_tokens !== 'number') return [];
  return [{ code: 'field-changed', path: 'max_tokens', message: 'is deprecated: use max_completion_tokens' }];
}
