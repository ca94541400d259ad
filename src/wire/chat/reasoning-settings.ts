import type { Effort, ReasoningSettings } from '../../canonical/request.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EncodeTarget } from '../format.ts';
import { asExtra, fieldsOf, restOf, withExtra } from './extra.ts';
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

/** What share of the output each effort may spend. @source generation.md 11.4 "ratio" */
const RATIO_OF_EFFORT: readonly (readonly [Effort, number])[] = [
  ['minimal', 0.1],
  ['low', 0.2],
  ['medium', 0.5],
  ['high', 0.8],
  ['xhigh', 0.95],
];

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
    ...(reasoning && asExtra(restOf(reasoning, REASONING_MEMBERS))),
  };
}

/** @source generation.md 2.4 `include_reasoning` */
function decodeIncluded(included: boolean | null | undefined): ReasoningSettings | undefined {
  if (typeof included !== 'boolean') return undefined;
  return included ? {} : { exclude: true };
}

/** The body's members that say it, in the words of the upstream's dialect. @source generation.md 2.5, 11.4 */
export function encodeReasoningSettings(
  settings: ReasoningSettings,
  target: EncodeTarget,
  outputTokensMax: number | undefined,
): JsonObject {
  const { reasoningSettings: spelling = 'reasoning_effort' } = target.dialect;
  if (spelling === 'none') return {};
  if (spelling === 'reasoning') return { reasoning: encodeObject(settings) };
  const effort = effortOf(settings, outputTokensMax ?? target.maxOutputTokens);
  return effort === undefined ? {} : { reasoning_effort: effort };
}

function encodeObject(settings: ReasoningSettings): JsonObject {
  const { effort, maxTokens, enabled, adaptive, summary, exclude, mode, context } = settings;
  const isEnabled = enabled ?? (adaptive && effort === undefined ? true : undefined);
  const own: JsonObject = {
    ...(effort !== undefined && { effort }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(isEnabled !== undefined && { enabled: isEnabled }),
    ...(summary !== undefined && { summary }),
    ...(exclude !== undefined && { exclude }),
    ...(mode !== undefined && { mode }),
    ...(context !== undefined && { context }),
  };
  return withExtra(own, fieldsOf(settings));
}

/** Of an effort and a budget the effort counts here. @source generation.md 2.5 "both" */
function effortOf(settings: ReasoningSettings, outputTokensMax: number | undefined): Effort | undefined {
  const { effort, maxTokens, enabled, adaptive } = settings;
  if (enabled === false || maxTokens === 0) return 'none';
  if (effort !== undefined) return effort;
  if (maxTokens !== undefined)
    return outputTokensMax === undefined ? 'medium' : nearestEffort(maxTokens / outputTokensMax);
  return enabled === true || adaptive === true ? 'medium' : undefined;
}

/** Ties go down. */
function nearestEffort(ratio: number): Effort {
  let nearest: Effort = 'minimal';
  let distance = Infinity;
  for (const [effort, candidate] of RATIO_OF_EFFORT) {
    if (Math.abs(candidate - ratio) < distance) {
      nearest = effort;
      distance = Math.abs(candidate - ratio);
    }
  }
  return nearest;
}
