/** Parameters of the catalog's vocabulary that the format can express. @spec translate-1 */
export const PARAMETERS: ReadonlySet<string> = new Set([
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
]);
