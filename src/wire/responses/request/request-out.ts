import type { GenerationRequest, ResponseFormat, Settings } from '../../../canonical/request.ts';
import { parameterOfFormat } from '../../../canonical/supports-parameter.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { pathOfSetting } from '../../gateway/source/source-paths.ts';
import { gatewayTier, isKnownTier } from '../../gateway/service-tier.ts';
import { warnOfDroppedFields } from '../../dropped-fields.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import type { EncodedRequest, EncodeTarget } from '../../format.ts';
import { strictnessOf } from '../../strict-schema.ts';
import { createEncodeContext, type EncodeContext } from './encode-context.ts';
import { encodeInput } from './messages-out.ts';
import { encodeTools } from './tools-out.ts';
import { takesBreakpoints } from './cache-control.ts';
import { encodeReasoning } from './thinking-out.ts';
import { withoutAbsent } from '../../json-fields.ts';

/** Settings that this format does not have, by their names in chat. @spec request-11 */
const UNSUPPORTED: readonly (readonly [keyof Settings, string])[] = [
  ['stop', 'stop'],
  ['seed', 'seed'],
  ['topK', 'top_k'],
  ['topA', 'top_a'],
  ['minP', 'min_p'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['repetitionPenalty', 'repetition_penalty'],
  ['logitBias', 'logit_bias'],
  ['prediction', 'prediction'],
  ['audio', 'audio'],
];
/** Parameters of the vendor's own, beside those that other hosts of the format take. */
const VENDORS_MEMBERS: ReadonlySet<string> = new Set([
  'truncation',
  'context_management',
  'prompt_cache_retention',
  'moderation',
  'access_programs',
  'image',
]);
/** Parts of a response that come from the vendor's own tools. */
const VENDORS_PARTS = [
  'web_search_call.action.sources',
  'web_search_call.results',
  'file_search_call.results',
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
] as const;
/** The messages format gives a schema no name, this one demands one. */
const SCHEMA_NAME = 'response';
/** Vendor's SDK, openai 7.55 (2026-11), `ResponseTextConfig.verbosity`. */
const VERBOSITIES: ReadonlySet<string> = new Set(['low', 'medium', 'high']);

/**
 * Truncation stays off, which is the format's default: a conversation that is too long is an error, not silently another
 * one. @spec translate-1; vendor's SDK, openai 7.55 (2026-11), `ResponseCreateParamsBase`
 * @throws GatewayError 400 for what the format cannot do in another way: to go on with an assistant's message
 */
export function encodeRequest(request: GenerationRequest, target: EncodeTarget): EncodedRequest {
  const context = createEncodeContext(request, target);
  const { dialect } = target;
  const { members, names } = encodeTools(context);
  const { endUserMember } = dialect;
  const reasoning = encodeReasoning(context);
  const body = withoutAbsent({
    model: target.model,
    input: encodeInput(context),
    ...members,
    ...encodeSampling(reasoning.isActive, context),
    reasoning: reasoning.members,
    text: encodeText(context),
    ...encodeService(context),
    include: encodeInclude(reasoning.isActive, context),
    ...(endUserMember !== undefined && target.endUserId !== '' && { [endUserMember]: target.endUserId }),
    store: dialect.storesResponses === true ? false : undefined,
    stream: request.delivery === 'stream' ? true : undefined,
  });
  warnOfUnsupported(context);
  const cacheBreakpoints = takesBreakpoints(dialect) ? 'content' : 'none';
  warnOfDroppedFields(request, { format: 'responses', cacheBreakpoints }, context.warnings);
  return {
    body: withExtra(body, vendorsFields(context)),
    headers: {},
    warnings: context.warnings.list,
    ...(names.size > 0 && { toolNames: names }),
  };
}

/** What the caller wrote for the vendor alone goes to no other host of the format: hosts refuse what they do not know. */
function vendorsFields({ request, target, warnings }: EncodeContext): JsonObject | undefined {
  const fields = fieldsOf(request, 'responses');
  if (fields === undefined) return undefined;
  const { openTools, compaction } = target.dialect;
  const isLeftOut = (member: string): boolean =>
    VENDORS_MEMBERS.has(member) && !(member === 'context_management' ? compaction === true : openTools === true);
  const kept = Object.entries(fields).filter(([member]) => !isLeftOut(member));
  for (const member of Object.keys(fields).filter(isLeftOut))
    warnings.add('field-dropped', member, 'the endpoint does not take this parameter');
  return Object.fromEntries(kept);
}

function encodeSampling(reasons: boolean, context: EncodeContext): JsonObject {
  const { request, target, warnings } = context;
  const { maxTokens, temperature, topP, logprobs, topLogprobs } = request.settings;
  const limit = target.maxOutputTokens;
  const capped = maxTokens !== undefined && limit !== undefined && maxTokens > limit;
  if (capped) warnings.add('field-changed', 'max_tokens', `the endpoint writes at most ${limit}`);
  const given = { temperature, top_p: topP, top_logprobs: logprobs === true ? topLogprobs : undefined };
  const sent: Record<string, Json | undefined> = { max_output_tokens: capped ? limit : maxTokens };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (takes(name, reasons, context)) sent[name] = value;
    else warnings.add('field-dropped', name, 'the model does not take this parameter, or not while it reasons');
  }
  return sent;
}

function takes(name: string, reasons: boolean, { target, supports }: EncodeContext): boolean {
  return supports(name) && !(reasons && target.dialect.refusedWhileReasoning?.has(name) === true);
}

/** @spec translate-22 */
function encodeText(context: EncodeContext): JsonObject | undefined {
  const { responseFormat } = context.request.settings;
  const members = withoutAbsent({
    format: responseFormat && encodeFormat(responseFormat, context),
    verbosity: encodeVerbosity(context),
  });
  return Object.keys(members).length === 0 ? undefined : members;
}

function encodeFormat(
  format: ResponseFormat,
  { request, target, warnings, supports }: EncodeContext,
): JsonObject | undefined {
  const parameter = parameterOfFormat(format);
  if (format.type === 'grammar' || format.type === 'python' || (parameter !== undefined && !supports(parameter))) {
    const path = pathOfSetting(request.format, 'response_format');
    warnings.add('field-dropped', path, `the endpoint does not support ${format.type}`);
    return undefined;
  }
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, description, schema } = format;
  const strict = strictnessOf(format, request.format, target.dialect);
  const own = withoutAbsent({ type: 'json_schema', name: name ?? SCHEMA_NAME, description, schema, strict });
  return withExtra(own, fieldsOf(format, 'responses'));
}

function encodeVerbosity({ request, target, warnings, supports }: EncodeContext): string | undefined {
  const { verbosity } = request.settings;
  if (verbosity === undefined) return undefined;
  if (target.dialect.textVerbosity === false || !supports('verbosity')) {
    warnings.add('field-dropped', 'verbosity', 'the model has no choice of verbosity');
    return undefined;
  }
  if (VERBOSITIES.has(verbosity)) return verbosity;
  warnings.add('field-changed', 'verbosity', `the wire knows no ${verbosity}: it gets high`);
  return 'high';
}

function encodeService({ request, target, warnings }: EncodeContext): JsonObject {
  const { serviceTier, promptCacheKey, promptCacheOptions } = request.settings;
  const { dialect } = target;
  const tier = serviceTier === undefined ? undefined : gatewayTier(serviceTier);
  const isVendors = tier !== undefined && dialect.openTools === true && !isKnownTier(tier);
  const served = tier !== undefined && (isVendors || dialect.serviceTiers?.includes(tier) !== false);
  if (tier !== undefined && !served)
    warnings.add('field-dropped', 'service_tier', 'the model is not served in this tier');
  const takesOptions = takesBreakpoints(dialect);
  if (promptCacheOptions !== undefined && !takesOptions)
    warnings.add('field-dropped', 'prompt_cache_options', 'the model does not take them');
  return {
    service_tier: served ? tier : undefined,
    prompt_cache_key: promptCacheKey,
    prompt_cache_options: takesOptions ? promptCacheOptions : undefined,
  };
}

/** What the response shall hold beside its text. @spec reasoning-14 */
function encodeInclude(reasons: boolean, context: EncodeContext): readonly string[] | undefined {
  const { request, target, warnings } = context;
  const { logprobs, reasoning } = request.settings;
  const include: string[] = [];
  // Excluded reasoning is removed from the response, so it need not be encrypted. @spec chat-response-17
  if (target.dialect.encryptedReasoning === true && reasoning?.exclude !== true)
    include.push('reasoning.encrypted_content');
  if (logprobs === true) {
    if (takes('logprobs', reasons, context)) include.push('message.output_text.logprobs');
    else warnings.add('field-dropped', 'logprobs', 'the model does not take this parameter, or not while it reasons');
  }
  if (target.dialect.openTools === true)
    include.push(...VENDORS_PARTS.filter((part) => request.response?.include.has(part) === true));
  return include.length === 0 ? undefined : include;
}

function warnOfUnsupported({ request, warnings }: EncodeContext): void {
  const { settings } = request;
  for (const [setting, name] of UNSUPPORTED)
    if (settings[setting] !== undefined)
      warnings.add('field-dropped', pathOfSetting(request.format, name), 'is not supported in this format');
  if (settings.modalities?.includes('audio') === true)
    warnings.add('field-dropped', 'modalities', 'this format cannot request sound');
}
