import type { Decide } from '../../canonical/decisions.ts';
import { GatewayError, withMetadata } from '../../canonical/gateway-error.ts';
import type { GenerationOrigin } from '../../canonical/generation-origin.ts';
import type { GenerateNested, NestedResponse } from '../../canonical/tools/nested-generation.ts';
import { decide } from '../../decisions/decide.ts';
import { fitState } from '../../decisions/fit-state.ts';
import { randomText } from '../../lib/ids.ts';
import { isReasoning, judgeOf, methodOf, takesSchema, type JudgeModelDeps } from './judge-model.ts';

const NONCE_CHARS = 16;

/**
 * Consults a judge while something else waits for its verdict. Each of its calls is a generation inside the one that waits,
 * and is charged like that one.
 * @param origin of the judge's generations
 */
export function createDecide(deps: JudgeModelDeps, generate: GenerateNested, origin: GenerationOrigin): Decide {
  return async (state, questions, { models, timeoutMs, signal }) => {
    const model = judgeOf(deps, { models });
    // Log-probabilities take a call a question and order; percentages of many questions share one.
    const method = questions.length === 1 ? methodOf({ method: 'auto', questions }, model) : 'schema';
    const limit = AbortSignal.timeout(timeoutMs);
    let judge = model.slug;
    let costNanoUsd = 0;
    let hasRefused = false;
    const [first, ...others] = models;
    try {
      const verdicts = await decide(
        { state: fitState(state, model.contextTokensMax), questions, method: 'auto' },
        method,
        {
          call: async ({ turns, settings }, isRepeat, stop) => {
            const response = await generate(
              {
                models: isRepeat && first !== undefined ? [...others, first] : models,
                turns,
                settings,
                origin,
                ...(settings.logprobs === true && { requiresParameters: true }),
                ended: (run) => void (costNanoUsd += run.costNanoUsd),
              },
              stop,
            );
            judge = response.model;
            hasRefused ||= isRefusal(response);
            return response;
          },
          nonce: randomText(NONCE_CHARS),
          signal: AbortSignal.any([signal, limit]),
          limitsReasoning: isReasoning(model),
          takesSchema: takesSchema(model),
        },
      );
      return { verdicts, model: judge, costNanoUsd };
    } catch (error) {
      if (signal.aborted) throw error;
      if (!limit.aborted) throw hasRefused ? refused(error) : error;
      throw new GatewayError('provider_unavailable', `The judge gave no verdict within ${timeoutMs} ms.`, {
        metadata: { reason: 'timeout' },
        cause: error,
      });
    }
  };
}

/** It would not even look, which is not the same as a judge that is away. */
function refused(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.metadata?.['reason'] !== 'no_verdict') return error;
  return withMetadata(error, { reason: 'refused' });
}

function isRefusal({ response }: NestedResponse): boolean {
  return response.end?.finish === 'content_filter' || response.blocks.some(({ type }) => type === 'refusal');
}
