import type { FormatId } from '../canonical/extra.ts';

const EVERYWHERE = [
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'include_reasoning',
  'verbosity',
] as const;

/**
 * Which parameters of the catalog's vocabulary a format has words for. An endpoint without a list of its own supports
 * exactly these. @source decisions.md 8, generation.md 11
 */
export const FORMAT_PARAMETERS: Readonly<Record<FormatId, ReadonlySet<string>>> = {
  chat: new Set([
    ...EVERYWHERE,
    'top_a',
    'min_p',
    'frequency_penalty',
    'presence_penalty',
    'repetition_penalty',
    'logit_bias',
    'logprobs',
    'top_logprobs',
    'seed',
    'web_search_options',
    'grammar',
    'python',
  ]),
  messages: new Set(EVERYWHERE),
};

/** The media that a format can carry; of a format that is not named, all. @source generation.md 11.2 column A */
export const FORMAT_MODALITIES = {
  messages: { inputs: new Set(['image']), outputs: new Set(['text']) },
} as const satisfies Partial<Record<FormatId, object>>;
