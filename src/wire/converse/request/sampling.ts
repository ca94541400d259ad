import type { JsonObject } from '../../../lib/json.ts';
import { capTokens } from '../../gateway/efforts.ts';
import type { EncodeContext } from './encode-context.ts';
import type { ReasoningPlan } from './thinking.ts';
import type { WireObject } from '../../json-fields.ts';

/** @source AWS API reference "InferenceConfiguration": 0 to 1; read 2026-11 */
const SAMPLING_MAX = 1;
/** @spec reasoning-8: what a Claude takes beside thinking. */
const THINKING_TOP_P_MIN = 0.95;

export interface Sampling {
  readonly inferenceConfig: WireObject;
  /** Members of `additionalModelRequestFields`. */
  readonly fields: WireObject;
}

/** @spec reasoning-8, route-20 */
export function encodeSampling(plan: ReasoningPlan, context: EncodeContext): Sampling {
  const maxTokens = capTokens(plan.maxTokens, context.target.maxOutputTokens, context.warnings);
  const temperature = encodeTemperature(plan, context);
  const topP = encodeTopP(plan, temperature !== undefined, context);
  const stopSequences = encodeStop(context);
  return {
    inferenceConfig: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(stopSequences !== undefined && { stopSequences }),
    },
    fields: encodeTopK(plan, context),
  };
}

function encodeTemperature({ sampling }: ReasoningPlan, { request, warnings }: EncodeContext): number | undefined {
  const { temperature } = request.settings;
  if (temperature === undefined) return undefined;
  if (sampling !== 'free') {
    warnings.add('field-dropped', 'temperature', 'the model takes none while it thinks');
    return undefined;
  }
  if (temperature > SAMPLING_MAX) warnings.add('field-changed', 'temperature', `clamped to ${SAMPLING_MAX}`);
  return Math.min(temperature, SAMPLING_MAX);
}

/** @source github.com/aws-samples/bedrock-access-gateway issue 191 and pull request 238, read 2026-11: one of both */
function encodeTopP(
  { sampling }: ReasoningPlan,
  hasTemperature: boolean,
  { request, facts, warnings }: EncodeContext,
): number | undefined {
  const { topP } = request.settings;
  if (topP === undefined) return undefined;
  if (sampling === 'fixed' || (sampling === 'restricted' && topP < THINKING_TOP_P_MIN)) {
    warnings.add('field-dropped', 'top_p', `the model takes none below ${THINKING_TOP_P_MIN} while it thinks`);
    return undefined;
  }
  if (hasTemperature && facts.oneSampler === true) {
    warnings.add('field-dropped', 'top_p', 'the model takes either temperature or top_p');
    return undefined;
  }
  return topP;
}

function encodeTopK({ sampling }: ReasoningPlan, { request, facts, supports, warnings }: EncodeContext): WireObject {
  const { topK } = request.settings;
  // Chat has 0 for "off"; this format has no member for it.
  if (topK === undefined || (topK === 0 && request.format === 'chat')) return {};
  if (facts.topK === undefined || sampling !== 'free' || !supports('top_k')) {
    warnings.add('field-dropped', 'top_k', 'the model takes none');
    return {};
  }
  return facts.topK === 'top_k' ? { top_k: topK } : { inferenceConfig: { topK } };
}

function encodeStop({ request, facts, warnings }: EncodeContext): readonly string[] | undefined {
  const { stop } = request.settings;
  if (stop === undefined || stop.length === 0) return undefined;
  if (facts.refusesStop === true) {
    warnings.add('field-dropped', 'stop', 'the model takes no stop sequences');
    return undefined;
  }
  const visible = stop.filter((sequence) => sequence.trim() !== '');
  if (visible.length < stop.length)
    warnings.add('field-dropped', 'stop', 'a sequence of white space is refused by this format');
  return visible.length === 0 ? undefined : visible;
}

/** @spec route-30; AWS SDK `ServiceTierType`, 3.1162 (2026-11) */
const TIERS: ReadonlyMap<string, string> = new Map([
  ['default', 'default'],
  ['standard_only', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['reserved', 'reserved'],
]);

export function encodeServiceTier({ request, warnings }: EncodeContext): { readonly serviceTier?: JsonObject } {
  const tier = request.settings.serviceTier;
  if (tier === undefined || tier === 'auto') return {};
  const type = TIERS.get(tier);
  if (type !== undefined) return { serviceTier: { type } };
  warnings.add('field-dropped', 'service_tier', 'is not a tier of this format');
  return {};
}
