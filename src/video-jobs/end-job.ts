import type { Ledger } from '../accounts/limits/ledger.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { Clock } from '../lib/clock.ts';
import { chargeOf, recordOf } from '../pipeline/billing/settle.ts';
import type { VideoAsset, VideoJob, VideoStatus } from '../store/video-jobs/columns.ts';
import type { VideoJobStore } from '../store/video-jobs/video-jobs.ts';
import { rowOf } from '../telemetry/generation-row.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import { RequestLog } from '../telemetry/request-log.ts';
import { ResponseMeter } from '../telemetry/response-meter.ts';
import { encodeFacts, requestedS, variantsOf, type JobFacts } from './facts.ts';

export interface EndJobDeps {
  readonly jobs: VideoJobStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly region: string;
  /** How long clips can be read, ms. */
  readonly retentionMs: number;
  /** What of a record destinations need; `undefined`: none of them wants it. */
  readonly exportFacts: (record: GenerationRecord) => string | undefined;
  /** Writes the log line and counts the metrics. Never throws. */
  readonly observe: (record: GenerationRecord) => void;
  readonly onEnded: (status: VideoStatus) => void;
}

/** How a job ended. */
export type JobEnding =
  | { readonly status: 'completed'; readonly assets: readonly VideoAsset[]; readonly nativeState?: string | undefined }
  | {
      readonly status: 'failed' | 'cancelled' | 'expired';
      readonly reason: GatewayError;
      /** The response to its request has said so already: no list has it, and nothing is called. */
      readonly isHidden?: boolean;
      readonly nativeState?: string | undefined;
    };

const MS_PER_S = 1_000;
/** The row of a job stays this long after its clips are gone. */
const ROW_AFTER_MS = 2_592_000_000;

/**
 * Ends a job, once, whatever process comes first: its row, its record and its charge are one transaction. Then what was
 * reserved is settled, which may be done again.
 * @returns whether it ended now
 */
export async function endJob(deps: EndJobDeps, job: VideoJob, facts: JobFacts, ending: JobEnding): Promise<boolean> {
  const nowMs = Math.floor(deps.clock.nowMs());
  const record = recordOfJob(job, facts, ending, nowMs);
  const isCompleted = ending.status === 'completed';
  const assetsUntilMs = nowMs + deps.retentionMs;
  const isHidden = !isCompleted && ending.isHidden === true;
  const ended = await deps.jobs.end(
    job,
    {
      status: ending.status,
      isListed: !isHidden,
      error: isCompleted ? null : ending.reason.message,
      costNanoUsd: record.cost?.totalNanoUsd ?? null,
      isByok: record.report.isByok,
      assets: isCompleted ? ending.assets : [],
      ...(isCompleted && { progress: 100 }),
      updatedAtMs: nowMs,
      finishedAtMs: nowMs,
      assetsUntilMs: isCompleted ? assetsUntilMs : null,
      expiresAtMs: assetsUntilMs + ROW_AFTER_MS,
      callbackAtMs: facts.request.callbackUrl === undefined || isHidden ? null : nowMs,
      leaseOwner: null,
      leaseUntilMs: 0,
      facts: encodeFacts(facts),
    },
    rowOf(record, deps.region),
    deps.exportFacts(record),
  );
  // Also where another process has ended it: that one may have been killed before it came to this.
  if (deps.ledger.isLimited(facts.limits)) {
    const reservation = deps.ledger.resume(facts.principal, facts.limits, job.generationId);
    await deps.ledger.settle(reservation, ended ? chargeOf(record) : NOTHING);
  }
  if (!ended) return false;
  deps.observe(record);
  deps.onEnded(ending.status);
  return true;
}

const NOTHING = { ownNanoUsd: 0, byokNanoUsd: 0 } as const;

/** The record of the request that began the job, with what came of it. */
function recordOfJob(
  { generationId, createdAtMs }: VideoJob,
  { request, principal, endUserId, attempts, warnings, warningsDropped, report, accepted, durationMs }: JobFacts,
  ending: JobEnding,
  nowMs: number,
): GenerationRecord {
  const log = new RequestLog({
    id: generationId,
    // Its warnings are among those of the log.
    request: { ...request, warnings: [] },
    principal,
    endUserId,
    createdMs: createdAtMs,
  });
  log.attempts.push(...attempts);
  log.warn(warnings);
  log.warningsDropped += warningsDropped;
  const tookMs = Math.max(0, nowMs - createdAtMs);
  const meter = new ResponseMeter();
  meter.upstreamId = accepted?.jobId;
  if (ending.status === 'completed' && accepted !== undefined) {
    const { endpoint, credential, attempt } = accepted;
    meter.begin({ endpoint, isByok: credential !== undefined, attempt }, tookMs);
    meter.media = ending.assets.length;
    meter.usage = {
      ...NO_USAGE,
      estimated: durationMs === undefined,
      units: {
        clips: ending.assets.length,
        videoMs: durationMs ?? requestedS(request, endpoint.video) * MS_PER_S,
        videoVariants: variantsOf(request, endpoint.video),
      },
    };
    meter.end = { type: 'end', finish: 'stop', nativeFinish: ending.nativeState ?? 'completed' };
  } else {
    meter.endpoint = accepted?.endpoint;
    if (ending.status !== 'completed') log.error = ending.reason;
  }
  return recordOf({}, { log, meter, report: { ...report, arrivedMs: 0, endedMs: tookMs } });
}

/** Why a job that its caller or its time has ended has no clip. */
export function endedBy(status: 'cancelled' | 'expired'): GatewayError {
  return status === 'cancelled'
    ? new GatewayError('invalid_request', 'The job was cancelled.', { status: 499 })
    : new GatewayError('timeout', 'The job took too long and has expired.');
}
