import type { Effort, ReasoningSettings } from '../../canonical/request.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { asExtra, restOf } from '../extra.ts';
import type { ChatRequest } from './schema.ts';

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
 * `reasoning`, its shorthand `reasoning_effort` and the legacy `include_reasoning` as one; `undefined` when nothing was
 * asked. @throws GatewayError 400 when the shorthand differs from `reasoning.effort`
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

/** @source generation.md 2.4 `include_reasoning` */
function decodeIncluded(included: boolean | null | undefined): ReasoningSettings | undefined {
  if (typeof included !== 'boolean') return undefined;
  return included ? {} : { exclude: true };
}

/** What share of the output each effort may spend. @source generation.md 11.4 "ratio" */
export const RATIO_OF_EFFORT: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};

/** Those that a budget may become: `max` is no more of it than `xhigh`. */
const EFFORTS_OF_BUDGETS = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/**
 * What was asked for on a wire of efforts, whichever way it was said. Of an effort and a budget the effort counts;
 * `undefined`: nothing was asked. @source generation.md 2.5 "both"
 */
export function effortOf(settings: ReasoningSettings, outputTokensMax: number | undefined): Effort | undefined {
  const { effort, maxTokens, enabled, adaptive } = settings;
  if (enabled === false || maxTokens === 0) return 'none';
  if (effort !== undefined) return effort;
  if (maxTokens !== undefined)
    return outputTokensMax === undefined ? 'medium' : effortOfRatio(maxTokens / outputTokensMax);
  return enabled === true || adaptive === true ? 'medium' : undefined;
}

/** Ties go down. */
function effortOfRatio(ratio: number): Effort {
  const distance = (effort: Effort): number => Math.abs(RATIO_OF_EFFORT[effort] - ratio);
  return EFFORTS_OF_BUDGETS.reduce<Effort>(
    (best, effort) => (distance(effort) < distance(best) ? effort : best),
    'minimal',
  );
}
