import type { Settings } from '../../../canonical/request.ts';
import { ExactNumber, type Json, type JsonObject } from '../../../lib/json.ts';
import type { EncodeContext } from './encode-context.ts';
import type { ThinkingPlan } from './thinking.ts';

type Members = Record<string, Json | undefined>;

/** @spec translate-12 */
const STOP_SEQUENCES_MAX = 5;
/** @spec request-11 */
const TOP_LOGPROBS_MAX = 20;
/** `int32` in the vendor's reference. */
const SEED_BITS = 32;
const SEED_MAX = 2 ** (SEED_BITS - 1) - 1;

/** Settings that this format does not have, as callers spell them. @spec request-11 */
const UNSUPPORTED: readonly (readonly [keyof Settings, string])[] = [
  ['topA', 'top_a'],
  ['minP', 'min_p'],
  ['repetitionPenalty', 'repetition_penalty'],
  ['logitBias', 'logit_bias'],
  ['verbosity', 'verbosity'],
  ['prediction', 'prediction'],
  ['promptCacheKey', 'prompt_cache_key'],
  ['promptCacheOptions', 'prompt_cache_options'],
  ['webSearchOptions', 'web_search_options'],
];

/** `generationConfig`. @spec route-20, translate-12 */
export function encodeGenerationConfig(
  thinking: ThinkingPlan,
  output: JsonObject,
  context: EncodeContext,
): JsonObject | undefined {
  const { settings } = context.request;
  const config: Members = {
    maxOutputTokens: thinking.maxTokens,
    ...encodeSampling(context),
    stopSequences: encodeStop(context),
    seed: encodeSeed(context),
    ...encodePenalties(context),
    ...encodeLogprobs(context),
    ...output,
    ...encodeModalities(context),
    thinkingConfig: thinking.config,
  };
  for (const [setting, name] of UNSUPPORTED)
    if (settings[setting] !== undefined) context.warn('field-dropped', name, 'is not supported in this format');
  if (settings.parallelToolCalls === false)
    context.warn('field-dropped', 'parallel_tool_calls', 'is not supported in this format');
  const stated = Object.entries(config).filter(([, value]) => value !== undefined);
  return stated.length === 0 ? undefined : Object.fromEntries(stated);
}

/** The caller's maximum, within what the endpoint can answer. */
export function cappedMaxTokens({ request, target, warn }: EncodeContext): number | undefined {
  const { maxTokens } = request.settings;
  const { maxOutputTokens: limit } = target;
  if (maxTokens === undefined || limit === undefined || maxTokens <= limit) return maxTokens;
  warn('field-changed', 'max_tokens', `the endpoint answers with ${limit} at most`);
  return limit;
}

function encodeSampling(context: EncodeContext): Members {
  const { temperature, topP, topK } = context.request.settings;
  const given: Members = { temperature, topP, topK };
  if (context.facts.fixedSampling === true) {
    for (const [member, name] of SAMPLING)
      if (given[member] !== undefined) context.warn('field-dropped', name, 'the model does not heed it');
    return {};
  }
  if (topK !== undefined && !context.supports('top_k')) {
    context.warn('field-dropped', 'top_k', 'the endpoint does not take it');
    return { temperature, topP };
  }
  // Chat has 0 for "off"; this format has no member for it.
  return topK === 0 ? { temperature, topP } : given;
}

const SAMPLING = [
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
] as const;

function encodeStop({ request, warn }: EncodeContext): readonly string[] | undefined {
  const { stop } = request.settings;
  if (stop === undefined) return undefined;
  const visible = stop.filter((sequence) => sequence !== '');
  if (visible.length > STOP_SEQUENCES_MAX)
    warn('field-changed', 'stop', `the provider takes ${STOP_SEQUENCES_MAX} sequences; the others were left out`);
  return visible.length === 0 ? undefined : visible.slice(0, STOP_SEQUENCES_MAX);
}

/** A seed that does not fit is folded into the range: the same one still gives the same response. */
function encodeSeed({ request, supports, warn }: EncodeContext): number | undefined {
  const { seed } = request.settings;
  if (seed === undefined) return undefined;
  if (!supports('seed')) {
    warn('field-dropped', 'seed', 'the endpoint does not take it');
    return undefined;
  }
  if (typeof seed === 'number' && Number.isInteger(seed) && Math.abs(seed) <= SEED_MAX) return seed;
  warn('field-changed', 'seed', 'the provider takes 32 bits; it was folded into them');
  return foldSeed(seed);
}

function foldSeed(seed: number | ExactNumber): number {
  const text = seed instanceof ExactNumber ? seed.text : String(seed);
  const rounded = Math.trunc(Number(text));
  const whole = /^-?\d+$/.test(text) ? BigInt(text) : BigInt(Number.isFinite(rounded) ? rounded : 0);
  return Number(BigInt.asIntN(SEED_BITS, whole));
}

function encodePenalties(context: EncodeContext): Members {
  const { frequencyPenalty, presencePenalty } = context.request.settings;
  const encoded: Members = {};
  const penalties = [
    ['frequencyPenalty', 'frequency_penalty', frequencyPenalty],
    ['presencePenalty', 'presence_penalty', presencePenalty],
  ] as const;
  for (const [member, name, value] of penalties) {
    if (value === undefined) continue;
    if (context.facts.refusesPenalties === true) context.warn('field-dropped', name, 'the model takes no penalties');
    else if (!context.supports(name)) context.warn('field-dropped', name, 'the endpoint does not take it');
    else encoded[member] = value;
  }
  return encoded;
}

function encodeLogprobs(context: EncodeContext): Members {
  const { logprobs, topLogprobs } = context.request.settings;
  if (logprobs !== true) return {};
  if (context.facts.refusesLogprobs === true || !context.supports('logprobs')) {
    context.warn('field-dropped', 'logprobs', 'the model gives none');
    return {};
  }
  return {
    responseLogprobs: true,
    ...(topLogprobs !== undefined && topLogprobs > 0 && { logprobs: Math.min(topLogprobs, TOP_LOGPROBS_MAX) }),
  };
}

/** The requested output besides text. @spec translate-13 */
function encodeModalities(context: EncodeContext): Members {
  const { modalities, imageConfig, audio } = context.request.settings;
  const speaks = modalities?.includes('audio') === true;
  if (speaks && modalities.length > 1)
    context.warn('field-changed', 'modalities', 'a response that is spoken comes without anything else');
  // "Cannot extract voices from a non-audio request": google-gemini/cookbook#793 (2025-06).
  if (audio !== undefined && !speaks) context.warn('field-dropped', 'audio', 'the response is not to be spoken');
  return {
    // "only one response modality can be set" beside sound: googleapis/js-genai#382 (2025-04).
    responseModalities: speaks ? ['AUDIO'] : modalities?.map((modality) => modality.toUpperCase()),
    imageConfig: imageConfig && encodeImageConfig(imageConfig, context),
    speechConfig: speaks && audio !== undefined ? encodeSpeech(audio, context) : undefined,
  };
}

/** @spec tool-31: the sizes are spelled either way. */
const IMAGE_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['aspect_ratio', 'aspectRatio'],
  ['image_size', 'imageSize'],
  ['resolution', 'imageSize'],
]);

function encodeImageConfig(given: Readonly<Record<string, Json>>, context: EncodeContext): JsonObject | undefined {
  const encoded: Members = {};
  for (const [name, value] of Object.entries(given)) {
    const member = IMAGE_MEMBERS.get(name);
    if (member === undefined) context.warn('field-dropped', `image_config.${name}`, 'is not supported in this format');
    else encoded[member] ??= value;
  }
  return Object.keys(encoded).length === 0 ? undefined : encoded;
}

/** ai.google.dev "Speech generation", read 2026-11: a voice can be named, the encoding is the vendor's choice. */
function encodeSpeech(audio: JsonObject, { warn }: EncodeContext): JsonObject | undefined {
  for (const member of Object.keys(audio))
    if (member !== 'voice') warn('field-dropped', `audio.${member}`, 'is not supported in this format');
  const { voice } = audio;
  return typeof voice === 'string' ? { voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } } } : undefined;
}
