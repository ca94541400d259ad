import type { GenerationRequest, Settings } from '../canonical/request.ts';
import { parameterOfFormat } from '../canonical/supports-parameter.ts';

/** The vocabulary of `supported_parameters`, by the setting that needs it. @spec route-20 */
const PARAMETERS_OF_SETTINGS: readonly (readonly [keyof Settings, string])[] = [
  ['maxTokens', 'max_tokens'],
  ['temperature', 'temperature'],
  ['topP', 'top_p'],
  ['topK', 'top_k'],
  ['topA', 'top_a'],
  ['minP', 'min_p'],
  ['frequencyPenalty', 'frequency_penalty'],
  ['presencePenalty', 'presence_penalty'],
  ['repetitionPenalty', 'repetition_penalty'],
  ['logitBias', 'logit_bias'],
  ['logprobs', 'logprobs'],
  ['topLogprobs', 'top_logprobs'],
  ['stop', 'stop'],
  ['seed', 'seed'],
  ['parallelToolCalls', 'parallel_tool_calls'],
  ['toolChoice', 'tool_choice'],
  ['reasoning', 'reasoning'],
  ['verbosity', 'verbosity'],
  ['webSearchOptions', 'web_search_options'],
];

/** The parameters that a request uses, in the catalog's words. */
export function usedParameters(request: GenerationRequest): readonly string[] {
  const used: string[] = [];
  for (const [setting, parameter] of PARAMETERS_OF_SETTINGS)
    if (request.settings[setting] !== undefined) used.push(parameter);
  if (request.tools.length > 0) used.push('tools');
  const { responseFormat } = request.settings;
  const form = responseFormat && parameterOfFormat(responseFormat);
  if (form !== undefined) used.push(form);
  return used;
}
