import type { VideoClientShape } from '../../canonical/video.ts';
import type { JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';

/** A job as its caller may see it. */
export interface JobView {
  readonly id: string;
  readonly generationId: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'expired';
  readonly shape: VideoClientShape;
  /** The model's slug. */
  readonly model: string;
  /** Display name; null: none has it yet. */
  readonly provider: string | null;
  readonly createdAtMs: number;
  readonly finishedAtMs: number | null;
  /** Until then its clips can be read. */
  readonly expiresAtMs: number | null;
  /** Per cent. */
  readonly progress: number | null;
  readonly error: string | null;
  readonly costNanoUsd: number | null;
  readonly isByok: boolean;
  readonly clips: number;
  readonly prompt: string | null;
  readonly seconds: number | null;
  readonly size: string | null;
}

/** Whether nothing about it changes any more. */
export function isFinal({ status }: Pick<JobView, 'status'>): boolean {
  return status !== 'pending' && status !== 'in_progress';
}

/** In the shape of the client that began it. @param baseUrl with its version segment */
export function encodeJob(job: JobView, baseUrl: string): JsonObject {
  return job.shape === 'vendor' ? encodeOpenAiJob(job) : encodeGatewayJob(job, baseUrl);
}

function encodeGatewayJob(job: JobView, baseUrl: string): JsonObject {
  const { id, generationId, status, model, provider, createdAtMs, progress, seconds, expiresAtMs } = job;
  return {
    id,
    polling_url: `${baseUrl}/videos/${id}`,
    status,
    generation_id: generationId,
    model,
    ...(provider !== null && { provider }),
    created_at: secondsOf(createdAtMs),
    ...(progress !== null && { progress }),
    ...(seconds !== null && { duration: seconds }),
    ...(expiresAtMs !== null && { expires_at: secondsOf(expiresAtMs) }),
    ...outcomeOf(job, baseUrl),
  };
}

/** What there is of a job that is over. */
function outcomeOf(job: JobView, baseUrl: string): JsonObject {
  const { id, status, clips, error } = job;
  return {
    ...(status === 'completed' && {
      unsigned_urls: Array.from({ length: clips }, (_, index) => `${baseUrl}/videos/${id}/content?index=${index}`),
    }),
    ...(isFinal(job) && { usage: usageOf(job) }),
    ...(error !== null && { error }),
  };
}

function usageOf({ costNanoUsd, isByok }: JobView): JsonObject {
  return { cost: costNanoUsd === null ? null : usdFromNano(costNanoUsd), is_byok: isByok };
}

const OPENAI_STATUS = {
  pending: 'queued',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  expired: 'failed',
} as const satisfies Readonly<Record<JobView['status'], string>>;

/** @source openai 7.55, `Video` */
function encodeOpenAiJob(job: JobView): JsonObject {
  const { id, status, model, progress, seconds, size, createdAtMs, finishedAtMs, expiresAtMs, prompt, error } = job;
  return {
    id,
    object: 'video',
    status: OPENAI_STATUS[status],
    progress: progress ?? 0,
    model,
    seconds: seconds === null ? null : String(seconds),
    size,
    created_at: secondsOf(createdAtMs),
    completed_at: status === 'completed' && finishedAtMs !== null ? secondsOf(finishedAtMs) : null,
    expires_at: expiresAtMs === null ? null : secondsOf(expiresAtMs),
    prompt,
    error: isFinal(job) && status !== 'completed' ? { code: status, message: error ?? `The job is ${status}.` } : null,
    remixed_from_video_id: null,
  };
}

/** Both shapes of a list at once: they differ in members alone. */
export function encodeJobList(jobs: readonly JobView[], hasMore: boolean, baseUrl: string): JsonObject {
  return {
    object: 'list',
    data: jobs.map((job) => encodeJob(job, baseUrl)),
    has_more: hasMore,
    first_id: jobs[0]?.id ?? null,
    last_id: jobs.at(-1)?.id ?? null,
  };
}

export function encodeDeletedJob({ id, shape }: Pick<JobView, 'id' | 'shape'>): JsonObject {
  return shape === 'vendor' ? { id, object: 'video.deleted', deleted: true } : { id, deleted: true };
}

/** What the address of a caller gets. */
export function encodeCallback(job: JobView, baseUrl: string): JsonObject {
  const { id, status, generationId, model, finishedAtMs, createdAtMs } = job;
  return {
    type: `video.generation.${status}`,
    created_at: secondsOf(finishedAtMs ?? createdAtMs),
    data: { id, status, generation_id: generationId, model, ...outcomeOf(job, baseUrl) },
  };
}

const MS_PER_S = 1_000;

function secondsOf(ms: number): number {
  return Math.floor(ms / MS_PER_S);
}
