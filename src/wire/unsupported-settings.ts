import type { Settings } from '../canonical/request.ts';
import type { Warnings } from './gateway/warnings.ts';

/** Settings that neither messages nor converse has, as callers spell them. @spec request-11 */
const UNSUPPORTED: readonly (readonly [keyof Settings, string])[] = [
  ['topA', 'top_a'],
  ['minP', 'min_p'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['repetitionPenalty', 'repetition_penalty'],
  ['logitBias', 'logit_bias'],
  ['topLogprobs', 'top_logprobs'],
  ['seed', 'seed'],
  ['prediction', 'prediction'],
  ['promptCacheKey', 'prompt_cache_key'],
  ['promptCacheOptions', 'prompt_cache_options'],
  ['imageConfig', 'image_config'],
  ['audio', 'audio'],
  ['webSearchOptions', 'web_search_options'],
];

/** Warns of requested settings that the format cannot express. */
export function warnOfUnsupportedSettings(settings: Settings, warnings: Pick<Warnings, 'add'>): void {
  for (const [setting, name] of UNSUPPORTED)
    if (settings[setting] !== undefined) warnings.add('field-dropped', name, 'is not supported in this format');
  if (settings.logprobs === true) warnings.add('field-dropped', 'logprobs', 'is not supported in this format');
  if (settings.modalities?.some((modality) => modality !== 'text') === true)
    warnings.add('field-dropped', 'modalities', 'this format can request text alone');
}
