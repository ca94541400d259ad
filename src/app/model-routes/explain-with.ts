import type { Spent } from '../../accounts/limits/spend-limit.ts';
import type { Operation } from '../../canonical/operation.ts';
import { unreachable } from '../../lib/assert.ts';
import type { Config } from '../../config/config.ts';
import type { Explain, PretendedHealth } from '../../http/generation/explain.ts';
import { explainRoute } from '../../pipeline/explain.ts';
import type { GenerateDeps } from '../../pipeline/generate.ts';
import { DECISION_STEPS } from '../../pipeline/operation/decide-natively.ts';
import { embeddingsSteps } from '../../pipeline/operation/embed-in-parts.ts';
import { estimateOperation } from '../../pipeline/operation/estimate.ts';
import { explainOperation, type OperationEstimate } from '../../pipeline/operation/explain-operation.ts';
import { imageSteps } from '../../pipeline/operation/images/make-pictures.ts';
import type { KindSteps } from '../../pipeline/operation/kind-steps.ts';
import { RERANK_STEPS } from '../../pipeline/operation/rerank-in-parts.ts';
import { SPEECH_STEPS } from '../../pipeline/operation/speak.ts';
import { TRANSCRIPTION_STEPS } from '../../pipeline/operation/transcribe.ts';
import { BatchSizes } from '../../pipeline/operation/split-inputs.ts';
import { pretendHealth } from './pretend-health.ts';
import { worstOf } from '../../video-jobs/run-video.ts';

/** Explains requests of every kind by the parts that serve them. */
export function explainWith({ images }: Pick<Config, 'images'>, deps: GenerateDeps): Explain {
  const { catalog } = deps;
  const withHealth = (pretend: PretendedHealth | undefined): GenerateDeps =>
    pretend === undefined ? deps : { ...deps, health: pretendHealth(deps, pretend) };
  return {
    generation: (request, principal, pretend) => explainRoute(withHealth(pretend), request, principal),
    operation: (request, principal, pretend) =>
      explainOperation(withHealth(pretend), request, principal, estimateOf(request, images.holdNanoUsd)),
    modalitiesOf: (name) => catalog.resolve?.(catalog.rename?.(name) ?? name)?.model.outputModalities,
  };
}

function estimateOf(request: Operation, holdNanoUsd: number): OperationEstimate {
  switch (request.kind) {
    case 'embeddings':
      return estimateBy(request, embeddingsSteps(new BatchSizes()));
    case 'rerank':
      return estimateBy(request, RERANK_STEPS);
    case 'decisions':
      return estimateBy(request, DECISION_STEPS);
    case 'image':
      return estimateBy(request, imageSteps(holdNanoUsd));
    case 'stt':
      return estimateBy(request, TRANSCRIPTION_STEPS);
    case 'tts':
      return estimateBy(request, SPEECH_STEPS);
    case 'video':
      return { promptTokens: 0, worst: (plan, atMs) => worstOf(request, plan, atMs) };
    default:
      return unreachable(request);
  }
}

function estimateBy<Op extends Operation>(
  request: Op,
  { promptTokens, margin, worst }: Pick<KindSteps<Op, object>, 'promptTokens' | 'margin' | 'worst'>,
): OperationEstimate {
  return {
    promptTokens: promptTokens(request),
    worst: (plan, createdMs): Spent =>
      estimateOperation({ id: '', createdMs, request }, margin?.(request) ?? 1, plan, worst).worst,
  };
}
