import type { Settings } from '../../../canonical/request.ts';
import { ExactNumber, type Json } from '../../../lib/json.ts';
import type { EncodeContext } from './encode-context.ts';

type Members = Record<string, Json | undefined>;

interface Range {
  readonly setting: 'temperature' | 'topP' | 'topK' | 'frequencyPenalty' | 'presencePenalty';
  /** As callers spell it. */
  readonly name: string;
  /** As the format spells it. */
  readonly member: string;
  readonly min: number;
  readonly max: number;
}

/** @source cohere-ai/cohere-developer-experience, cohere-openapi.yaml (2026-08) */
const RANGES: readonly Range[] = [
  { setting: 'temperature', name: 'temperature', member: 'temperature', min: 0, max: 1 },
  { setting: 'topP', name: 'top_p', member: 'p', min: 0.01, max: 0.99 },
  { setting: 'topK', name: 'top_k', member: 'k', min: 0, max: 500 },
  { setting: 'frequencyPenalty', name: 'frequency_penalty', member: 'frequency_penalty', min: 0, max: 1 },
  { setting: 'presencePenalty', name: 'presence_penalty', member: 'presence_penalty', min: 0, max: 1 },
];

const STOPS_MAX = 5;

/** Settings that this format does not have, as callers spell them. */
const UNSUPPORTED: readonly (readonly [keyof Settings, string])[] = [
  ['topA', 'top_a'],
  ['minP', 'min_p'],
  ['repetitionPenalty', 'repetition_penalty'],
  ['logitBias', 'logit_bias'],
  ['prediction', 'prediction'],
  ['verbosity', 'verbosity'],
  ['serviceTier', 'service_tier'],
  ['promptCacheKey', 'prompt_cache_key'],
  ['promptCacheOptions', 'prompt_cache_options'],
  ['imageConfig', 'image_config'],
  ['audio', 'audio'],
  ['webSearchOptions', 'web_search_options'],
];

/** Sampling, stop sequences and log probabilities; settings that the format does not have are warned of. */
export function encodeSampling(context: EncodeContext): Members {
  const { request, warnings } = context;
  const { settings } = request;
  const members: Members = {};
  for (const range of RANGES) {
    const value = settings[range.setting];
    if (value !== undefined) members[range.member] = fitRange(value, range, context);
  }
  dropSecondPenalty(members, context);
  members['seed'] = encodeSeed(context);
  members['stop_sequences'] = encodeStop(context);
  if (settings.logprobs === true) members['logprobs'] = supported('logprobs', context) ? true : undefined;
  if (settings.nativeWebSearch !== undefined)
    warnings.add('field-dropped', 'plugins', 'web: the endpoint has no search of its own');
  for (const [setting, name] of UNSUPPORTED)
    if (settings[setting] !== undefined) warnings.add('field-dropped', name, 'is not supported in this format');
  if (settings.topLogprobs !== undefined && settings.topLogprobs > 0)
    warnings.add('field-dropped', 'top_logprobs', 'only the chosen token has a probability in this format');
  if (settings.modalities?.some((modality) => modality !== 'text') === true)
    warnings.add('field-dropped', 'modalities', 'this format can request text alone');
  return members;
}

function fitRange(value: number, { name, min, max }: Range, context: EncodeContext): number | undefined {
  if (!supported(name, context)) return undefined;
  const fitted = Math.min(Math.max(value, min), max);
  if (fitted === value) return value;
  context.warnings.add('field-changed', name, `clamped to ${fitted}`);
  return fitted;
}

/** Up to 64 bits without a sign. */
function encodeSeed(context: EncodeContext): Settings['seed'] {
  const { seed } = context.request.settings;
  if (seed === undefined || !supported('seed', context)) return undefined;
  if (!String(seed instanceof ExactNumber ? seed.text : seed).startsWith('-')) return seed;
  context.warnings.add('field-dropped', 'seed', 'cannot be negative in this format');
  return undefined;
}

function supported(name: string, { supports, warnings }: EncodeContext): boolean {
  if (supports(name)) return true;
  warnings.add('field-dropped', name, 'the endpoint does not support this parameter');
  return false;
}

/** "cannot specify both frequency_penalty and presence_penalty": docs.cohere.com "Errors", read 2026-11. */
function dropSecondPenalty(members: Members, { warnings }: EncodeContext): void {
  const { frequency_penalty: frequency, presence_penalty: presence } = members;
  if (frequency === undefined || presence === undefined) return;
  // Zero is what the format assumes.
  if (frequency === 0) {
    delete members['frequency_penalty'];
    return;
  }
  delete members['presence_penalty'];
  if (presence !== 0)
    warnings.add('field-dropped', 'presence_penalty', 'cannot stand beside frequency_penalty in this format');
}

function encodeStop({ request, warnings }: EncodeContext): readonly string[] | undefined {
  const stops = request.settings.stop?.filter((sequence) => sequence !== '') ?? [];
  if (stops.length > STOPS_MAX)
    warnings.add('field-changed', 'stop', `only the first ${STOPS_MAX} can be sent in this format`);
  return stops.length === 0 ? undefined : stops.slice(0, STOPS_MAX);
}
