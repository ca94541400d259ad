import type { ResponseFormat } from './request.ts';

/** Parameters that every endpoint must accept, whatever its list says. @spec route-20 */
const NEVER_MISSING: ReadonlySet<string> = new Set([
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'temperature',
  'top_p',
]);

/**
 * Words of the vocabulary that another one covers: pairs that mean the same, and options that only qualify `tools`,
 * which lists in the field often name alone.
 */
const COVERED_BY: ReadonlyMap<string, string> = new Map([
  ['structured_outputs', 'response_format'],
  ['response_format', 'structured_outputs'],
  ['reasoning', 'include_reasoning'],
  ['tool_choice', 'tools'],
  ['parallel_tool_calls', 'tools'],
]);

/**
 * Whether an endpoint's list of supported parameters covers one: routing and the encoders ask here, so that what the
 * plan counts on is what is sent. @spec route-20
 */
export function supportsParameter(list: ReadonlySet<string>, parameter: string): boolean {
  return NEVER_MISSING.has(parameter) || list.has(parameter) || list.has(COVERED_BY.get(parameter) ?? parameter);
}

/** The parameter of the vocabulary that a response format needs; plain text needs none. @spec chat-36, chat-37 */
export function parameterOfFormat({ type }: ResponseFormat): string | undefined {
  if (type === 'text') return undefined;
  if (type === 'json_schema') return 'structured_outputs';
  return type === 'json_object' ? 'response_format' : type;
}
