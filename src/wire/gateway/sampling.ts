import { z } from 'zod';
import type { Settings } from '../../canonical/request.ts';

/** @spec chat-32: `stop`. */
const STOP_SEQUENCES_MAX = 4;
/** @spec chat-29: `top_logprobs`. */
const TOP_LOGPROBS_MAX = 20;
/** @spec chat-29: `temperature`. */
const TEMPERATURE_MAX = 2;
/** @spec chat-29: `frequency_penalty`, `presence_penalty`. */
const PENALTY_MAX = 2;
/** @spec chat-29: `repetition_penalty`, above 0. */
const REPETITION_PENALTY_MAX = 2;
/** @spec chat-29: `logit_bias`. */
const LOGIT_BIAS_MAX = 100;

const penalty = z.number().min(-PENALTY_MAX).max(PENALTY_MAX).nullish();
const fraction = z.number().min(0).max(1).nullish();

/** The members that say how tokens are given: chat and responses spell them alike. */
export const samplingShape = {
  temperature: z.number().min(0).max(TEMPERATURE_MAX).nullish(),
  top_p: fraction,
  top_k: z.int().min(0).nullish(),
  top_a: fraction,
  min_p: fraction,
  frequency_penalty: penalty,
  presence_penalty: penalty,
  repetition_penalty: z.number().gt(0).max(REPETITION_PENALTY_MAX).nullish(),
  logit_bias: z.record(z.string(), z.number().min(-LOGIT_BIAS_MAX).max(LOGIT_BIAS_MAX)).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(TOP_LOGPROBS_MAX).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(STOP_SEQUENCES_MAX)]).nullish(),
  // Not `z.int()`: a seed may have 64 bits, and no arithmetic is done with it.
  seed: z.number().refine(Number.isInteger, { error: 'must be an integer' }).nullish(),
};

const sampling = z.object(samplingShape);

/** What of the settings they are; those that are null are absent to the caller of this. */
export function decodeSampling(parsed: z.output<typeof sampling>) {
  const { stop } = parsed;
  return {
    temperature: parsed.temperature,
    topP: parsed.top_p,
    topK: parsed.top_k,
    topA: parsed.top_a,
    minP: parsed.min_p,
    frequencyPenalty: parsed.frequency_penalty,
    presencePenalty: parsed.presence_penalty,
    repetitionPenalty: parsed.repetition_penalty,
    logitBias: parsed.logit_bias,
    logprobs: parsed.logprobs,
    topLogprobs: parsed.top_logprobs,
    stop: typeof stop === 'string' ? [stop] : stop,
    seed: parsed.seed,
  } satisfies { readonly [name in keyof Settings]?: Settings[name] | null | undefined };
}
