import { invalid } from '../../../canonical/gateway-error.ts';
import type { ReasoningSettings } from '../../../canonical/request.ts';
import { asExtra, restOf } from '../../extra.ts';
import type { ResponsesRequest } from './request-schema.ts';

const REASONING_MEMBERS: ReadonlySet<string> = new Set([
  'effort',
  'summary',
  'generate_summary',
  'max_tokens',
  'exclude',
  'enabled',
  'mode',
  'context',
]);

/**
 * `reasoning` and the spellings of chat as one; `undefined` when none of them is set.
 * @throws GatewayError 400 when the shorthand differs from `reasoning.effort`
 */
export function decodeReasoningSettings(parsed: ResponsesRequest): ReasoningSettings | undefined {
  const { reasoning, reasoning_effort: shorthand, include_reasoning: included } = parsed;
  if (shorthand && reasoning?.effort && shorthand !== reasoning.effort)
    throw invalid('reasoning_effort', 'must not differ from reasoning.effort');
  if (!reasoning && !shorthand && typeof included !== 'boolean') return undefined;
  const { summary, generate_summary: former, max_tokens: maxTokens, exclude, enabled, mode, context } = reasoning ?? {};
  const effort = reasoning?.effort ?? shorthand;
  const shown = summary ?? former;
  const isExcluded = exclude ?? (included === false ? true : undefined);
  return {
    ...(effort && { effort }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof enabled === 'boolean' && { enabled }),
    ...(shown && { summary: shown }),
    ...(typeof isExcluded === 'boolean' && { exclude: isExcluded }),
    ...(mode && { mode }),
    ...(context && { context }),
    ...(reasoning && asExtra('responses', restOf(reasoning, REASONING_MEMBERS))),
  };
}
