/**
 * Parameters of the catalog's vocabulary that the format can express. @spec route-20; vendor's SDK, openai
 * 7.55 (2026-11), `ResponseCreateParamsBase`: no stop sequences, seed, penalties or `top_k`
 */
export const PARAMETERS: ReadonlySet<string> = new Set([
  'temperature',
  'top_p',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'include_reasoning',
  'verbosity',
  'logprobs',
  'top_logprobs',
  'web_search_options',
]);
