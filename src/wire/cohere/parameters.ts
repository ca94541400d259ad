/**
 * Parameters of the catalog's vocabulary that the format can express.
 * @source docs.cohere.com "Chat" and the types of the vendor's SDK, cohere-ai/cohere-python (2026-08)
 */
export const PARAMETERS: ReadonlySet<string> = new Set([
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'max_tokens',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'logprobs',
  'tools',
  'tool_choice',
  'response_format',
  'structured_outputs',
  'reasoning',
  'include_reasoning',
]);
