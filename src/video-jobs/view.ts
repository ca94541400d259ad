import type { VideoJob } from '../store/video-jobs/columns.ts';
import type { JobView } from '../wire/video/answer-out.ts';
import { decodeFacts, requestedS } from './facts.ts';

const MS_PER_S = 1_000;

/** A job as its caller may see it. */
export function viewOf(job: VideoJob): JobView {
  const { request, accepted, durationMs } = decodeFacts(job.facts);
  const { endpoint } = accepted ?? {};
  const seconds = durationMs === undefined ? request.durationS : durationMs / MS_PER_S;
  return {
    id: job.id,
    generationId: job.generationId,
    status: job.status,
    shape: request.shape,
    model: endpoint?.model ?? job.model,
    provider: endpoint?.providerName ?? null,
    createdAtMs: job.createdAtMs,
    finishedAtMs: job.finishedAtMs,
    expiresAtMs: job.assetsUntilMs,
    progress: job.progress,
    error: job.error,
    costNanoUsd: job.costNanoUsd,
    isByok: job.isByok,
    clips: job.assets.length,
    prompt: request.prompt ?? null,
    seconds: seconds ?? (endpoint === undefined ? null : requestedS(request, endpoint.video)),
    size: request.size ?? null,
  };
}
