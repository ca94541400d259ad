import { describeFailure, type UpstreamFailure } from '../canonical/failure/failure.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { VideoOperation } from '../canonical/video.ts';
import { Cancellation } from '../lib/async/cancellation.ts';
import { AttemptDeadline } from '../pipeline/attempt/attempt-deadline.ts';
import { AttemptLog } from '../pipeline/attempt/attempt-log.ts';
import { CandidateWalk, type Trying } from '../pipeline/attempt/candidate-walk.ts';
import type { CallDeps } from '../pipeline/operation/call-candidates.ts';
import { tryEncode } from '../pipeline/operation/try-encode.ts';
import { upstreamOf } from '../pipeline/attempt/upstream.ts';
import type { RequestFacts } from '../pipeline/request.ts';
import { offerOf } from '../providers/contract.ts';
import type { RoutePlan } from '../routing/route-plan.ts';
import { UnreadableVideo } from '../wire/video/format.ts';
import { VIDEO_FORMATS } from '../wire/video/formats.ts';
import { callProvider, unreadable } from './call-provider.ts';
import { acceptedBy, type AcceptedFacts } from './facts.ts';

export interface SubmitDeps extends CallDeps {
  /** Of the call that submits a job, ms. */
  readonly submitMs: number;
  readonly nowMs: () => number;
}

export interface SubmitInput {
  readonly plan: RoutePlan;
  /** With its media. */
  readonly request: VideoOperation;
  readonly facts: RequestFacts<VideoOperation>;
  /** A provider is about to be called: what is written before that tells what became of a process that was killed. */
  readonly onTry: (provider: string) => Promise<void>;
}

/** How a provider took a job. */
export interface Accepted extends AcceptedFacts {
  readonly providerName: string;
  readonly retryAfterMs: number | undefined;
}

type Outcome =
  | { readonly committed: true; readonly jobId: string; readonly retryAfterMs: number | undefined }
  | { readonly committed: false; readonly failure: UpstreamFailure; readonly mayBeAccepted: boolean };

/**
 * Submits a job to the first provider that accepts it. Where one may have accepted it without saying so, no other is called:
 * the operator would pay for two clips. @spec video-6
 * @throws GatewayError what the last failure means for the caller; 502 where it is unknown whether the job was accepted
 */
export async function submitJob(deps: SubmitDeps, input: SubmitInput): Promise<Accepted> {
  // A caller that hangs up leaves a job that it may look for later.
  const cancellation = new Cancellation<'total'>();
  const timer = setTimeout(() => cancellation.abort('total'), deps.submitMs);
  const walk = new CandidateWalk(deps, input.plan, input.request.directives.models, cancellation);
  try {
    for (;;) {
      const step = walk.candidates.next();
      if (step.type === 'wait' && (await walk.wait(step.ms))) continue;
      if (step.type !== 'try') return walk.fail(step);
      const accepted = await tryCandidate(deps, input, walk, step, cancellation);
      if (accepted !== undefined) return accepted;
    }
  } finally {
    clearTimeout(timer);
  }
}

async function tryCandidate(
  deps: SubmitDeps,
  { request, facts, onTry }: SubmitInput,
  walk: CandidateWalk,
  step: Trying,
  cancellation: Cancellation<'total'>,
): Promise<Accepted | undefined> {
  const { candidate } = step;
  const startedMs = deps.monotonicMs();
  const attempt = new AttemptLog(facts, candidate, deps.monotonicMs);
  const deadline = new AttemptDeadline({ monotonicMs: deps.monotonicMs }, candidate, () => 0, NO_ALTERNATIVE);
  const index = facts.log.attempts.length;
  const submit = async (): Promise<Outcome> => {
    const upstream = await upstreamOf(deps, candidate, attempt.keyHash);
    if ('kind' in upstream) return failed(upstream);
    const { provider, endpoint } = upstream;
    const offer = offerOf(provider, 'video', endpoint.upstreamModel);
    const format = offer && VIDEO_FORMATS.get(offer.format);
    if (format === undefined) return failed(unreadable());
    const encoded = tryEncode(() =>
      format.encode(request, {
        model: endpoint.upstreamModel,
        provider: provider.settings.slug,
        endUserId: facts.log.endUserId,
        ...(provider.clipBucket !== undefined && { bucket: provider.clipBucket.uri }),
      }),
    );
    if ('kind' in encoded) return failed(encoded);
    attempt.warn(encoded.warnings);
    await onTry(endpoint.provider);
    let isSent = false;
    const answer = await callProvider(deps, {
      provider,
      format,
      model: endpoint.upstreamModel,
      call: encoded,
      timeoutMs: deps.submitMs,
      cancellation,
      onSent() {
        isSent = true;
        attempt.sent();
      },
    });
    if ('kind' in answer) return failed(answer, isSent && mayBeAccepted(answer));
    try {
      if (answer.body === undefined) throw new UnreadableVideo('The response is no object.');
      return { committed: true, jobId: format.decodeAccepted(answer.body), retryAfterMs: answer.retryAfterMs };
    } catch (error) {
      if (!(error instanceof UnreadableVideo)) throw error;
      return failed(unreadable(), true);
    }
  };
  const outcome = await walk.observe(step, deadline, startedMs, submit());
  if (outcome.committed) {
    attempt.commit();
    const { jobId, retryAfterMs } = outcome;
    const { providerName } = candidate.endpoint;
    return { ...acceptedBy(candidate), attempt: index, jobId, providerName, retryAfterMs };
  }
  const { failure } = outcome;
  attempt.fail(failure);
  if (outcome.mayBeAccepted) throw ambiguous(failure);
  walk.candidates.failed(failure);
  walk.failed(candidate, failure);
  return undefined;
}

const NO_ALTERNATIVE = { areLeft: () => false, couldServe: () => false } as const;

function failed(failure: UpstreamFailure, isAmbiguous = false): Outcome {
  return { committed: false, failure, mayBeAccepted: isAmbiguous };
}

/** Statuses that say nothing of whether the job was accepted; the last two are a proxy's. */
const SILENT_STATUSES: ReadonlySet<number> = new Set([500, 502, 504, 520, 524]);

/** The request went out, and no answer says that it was refused. */
function mayBeAccepted({ kind, upstreamStatus }: UpstreamFailure): boolean {
  if (kind === 'connect' || kind === 'unsayable' || kind === 'unfunded') return false;
  return upstreamStatus === undefined || SILENT_STATUSES.has(upstreamStatus);
}

function ambiguous(failure: UpstreamFailure): GatewayError {
  return new GatewayError(
    'provider_unavailable',
    `The provider may have accepted the job: it did not say so, and no other was called. Nothing is charged. ${describeFailure(failure)}`,
    { metadata: { maybe_charged: true }, shouldRetry: false },
  );
}
