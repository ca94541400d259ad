import type { ReasoningSettings } from '../../../canonical/request.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { asExtra, restOf } from '../../extra.ts';
import type { ChatRequest } from './request-schema.ts';

const REASONING_MEMBERS: ReadonlySet<string> = new Set([
  'effort',
  'summary',
  'max_tokens',
  'exclude',
  'enabled',
  'mode',
  'context',
]);

/**
 * `reasoning`, its shorthand `reasoning_effort` and the legacy `include_reasoning` as one; `undefined` when none of them
 * is set. @throws GatewayError 400 when the shorthand differs from `reasoning.effort`
 */
export function decodeReasoningSettings(parsed: ChatRequest): ReasoningSettings | undefined {
  const { reasoning, reasoning_effort: shorthand, include_reasoning: included } = parsed;
  if (shorthand && reasoning?.effort && shorthand !== reasoning.effort)
    throw invalid('reasoning_effort', 'must not differ from reasoning.effort');
  if (reasoning === undefined && !shorthand) return decodeIncluded(included);
  const { summary, max_tokens: maxTokens, exclude, enabled, mode, context } = reasoning ?? {};
  const effort = reasoning?.effort ?? shorthand;
  return {
    ...(effort && { effort }),
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof enabled === 'boolean' && { enabled }),
    ...(summary && { summary }),
    ...(typeof exclude === 'boolean' && { exclude }),
    ...(mode && { mode }),
    ...(context && { context }),
    ...(reasoning && asExtra('chat', restOf(reasoning, REASONING_MEMBERS))),
  };
}

/** @spec chat-41 */
function decodeIncluded(included: boolean | null | undefined): ReasoningSettings | undefined {
  if (typeof included !== 'boolean') return undefined;
  return included ? {} : { exclude: true };
}
