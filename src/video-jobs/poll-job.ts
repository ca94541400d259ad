import type { Ledger } from '../accounts/limits/ledger.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import type { Clock } from '../lib/clock.ts';
import { upstreamOf, type Upstream, type UpstreamDeps } from '../pipeline/attempt/upstream.ts';
import { offerOf } from '../providers/contract.ts';
import type { VideoJob, VideoJobChanges } from '../store/video-jobs/columns.ts';
import type { VideoJobStore } from '../store/video-jobs/video-jobs.ts';
import { UnreadableVideo, type UpstreamJob, type VideoCall, type VideoFormat } from '../wire/video/format.ts';
import { VIDEO_FORMATS } from '../wire/video/formats.ts';
import { callProvider, unreadable, type CallProviderDeps } from './call-provider.ts';
import { ClipAway, ClipGone, sourceOf } from './clips.ts';
import { endedBy, endJob, type EndJobDeps } from './end-job.ts';
import { candidateOf, decodeFacts, type AcceptedFacts, type JobFacts } from './facts.ts';
import { keepClips, NoClip, type KeepClipsDeps } from './keep-clips.ts';

/** Intervals and limits of jobs, ms. */
export interface VideoTimes {
  /** Between two looks for jobs that are due. */
  readonly tickMs: number;
  readonly firstPollMs: number;
  readonly pollMsMax: number;
  /** How long a process has a job. */
  readonly leaseMs: number;
  /** The same while it submits one. */
  readonly submitLeaseMs: number;
  /** How long a clip that is made may be out of reach. */
  readonly awayMsMax: number;
  /** Before each report to a caller's address. */
  readonly callbackDelaysMs: readonly number[];
}

export interface PollDeps extends CallProviderDeps, UpstreamDeps, EndJobDeps, KeepClipsDeps {
  readonly jobs: VideoJobStore;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly times: VideoTimes;
  /** This process, among those that share the database. */
  readonly owner: string;
  /** How long a job may take as a whole, ms. */
  readonly jobMs: number;
  /** Of one look, ms. */
  readonly pollTimeoutMs: number;
  readonly random: () => number;
  /** A provider says how a job stands in a word that is not known here. */
  readonly onUnknownWord: (provider: string, word: string) => void;
  /** The operator is to know. */
  readonly onAlarm: (problem: string, facts: object) => void;
}

const POLL_FACTOR = 1.3;
const JITTER = 0.1;
/** A provider may ask for a later look, but not for one so late that an end goes unnoticed. */
const RETRY_AFTER_MS_MAX = 600_000;
/** A provider that has lost a job says so more than once. */
const MISSING_MAX = 3;
const REFUSING_STATUSES: ReadonlySet<unknown> = new Set([400, 422, 451]);
const MISSING_STATUSES: ReadonlySet<unknown> = new Set([404, 410]);
/** What a reservation outlives its job by. */
const GRACE_MS = 3_600_000;
const MESSAGE_CHARS_MAX = 500;
const NATIVE_STATE_CHARS_MAX = 100;
/** One is requested. */
const CLIPS_MAX = 64;

/** Looks once how a job stands, and writes down what it finds. The job is leased by this process. */
export async function pollJob(deps: PollDeps, job: VideoJob): Promise<void> {
  const facts = decodeFacts(job.facts);
  const { accepted } = facts;
  if (accepted === undefined) return giveUp(deps, job, facts);
  if (deps.clock.nowMs() - job.createdAtMs > deps.jobMs) return expire(deps, job, facts, accepted);
  await keepReservation(deps, job, facts);
  const called = await connect(deps, accepted);
  if ('kind' in called) {
    deps.onAlarm('the credential of a job does not work', { id: job.id, provider: job.provider });
    return lookAgain(deps, job, {});
  }
  const looked = await look(deps, called, accepted);
  if ('kind' in looked) return afterFailure(deps, job, facts, looked);
  const { found, retryAfterMs } = looked;
  switch (found.state) {
    case 'completed':
      return complete(deps, job, facts, { ...called, accepted, found });
    case 'failed':
      return void (await endJob(deps, job, facts, { status: 'failed', reason: failureOf(found), ...native(found) }));
    case 'cancelled':
    case 'expired':
      return void (await endJob(deps, job, facts, {
        status: found.state,
        reason: endedBy(found.state),
        ...native(found),
      }));
    case 'pending':
    case 'in_progress':
    case 'unknown':
      if (found.state === 'unknown') deps.onUnknownWord(called.endpoint.provider, native(found).nativeState ?? '');
      return lookAgain(deps, job, {
        retryAfterMs,
        changes: {
          missing: 0,
          missingSinceMs: null,
          // A job that has begun does not go back.
          ...(found.state === 'in_progress' && { status: 'in_progress' as const }),
          ...(found.progress !== undefined && { progress: Math.max(found.progress, job.progress ?? 0) }),
        },
      });
  }
}

/** The provider that has a job, and how it is spoken to. */
interface Connected extends Upstream {
  readonly format: VideoFormat;
  readonly mayCancel: boolean;
}

export async function connect(deps: UpstreamDeps, accepted: AcceptedFacts): Promise<Connected | UpstreamFailure> {
  const upstream = await upstreamOf(deps, candidateOf(accepted), undefined);
  if ('kind' in upstream) return upstream;
  const offer = offerOf(upstream.provider, 'video', upstream.endpoint.upstreamModel);
  const format = offer && VIDEO_FORMATS.get(offer.format);
  if (format === undefined) return unreadable();
  return { ...upstream, format, mayCancel: format.cancel !== undefined && offer?.cancels === true };
}

/** Asks the provider to stop. `undefined`: it does, or has. */
export async function cancelAtProvider(
  deps: CallProviderDeps & Pick<PollDeps, 'pollTimeoutMs'>,
  { provider, endpoint, format }: Connected,
  { jobId }: AcceptedFacts,
): Promise<UpstreamFailure | undefined> {
  const call = format.cancel?.(jobId);
  if (call === undefined) return unreadable();
  const { pollTimeoutMs: timeoutMs } = deps;
  const answer = await callProvider(deps, { provider, format, model: endpoint.upstreamModel, call, timeoutMs });
  return 'kind' in answer ? answer : undefined;
}

type Found = Exclude<UpstreamJob, { readonly state: 'ready' }>;

async function look(
  deps: PollDeps,
  connected: Connected,
  { jobId }: AcceptedFacts,
): Promise<{ readonly found: Found; readonly retryAfterMs: number | undefined } | UpstreamFailure> {
  const looked = await lookAt(deps, connected, connected.format.poll(jobId));
  if ('kind' in looked) return looked;
  const { found, retryAfterMs } = looked;
  if (found.state !== 'ready') return { found, retryAfterMs };
  const result = await lookAt(deps, connected, found.result);
  if (!('kind' in result)) return result.found.state === 'ready' ? unreadable() : { ...result, found: result.found };
  // Some say only here that the request was one that they do not serve.
  if (!REFUSING_STATUSES.has(result.upstreamStatus)) return result;
  const { errorType, upstreamMessage: message } = result;
  const isModerated = errorType === 'content_policy_violation';
  return {
    found: { state: 'failed', isModerated, ...(message !== undefined && { message }) },
    retryAfterMs: undefined,
  };
}

async function lookAt(
  deps: PollDeps,
  { provider, endpoint, format }: Connected,
  call: VideoCall,
): Promise<{ readonly found: UpstreamJob; readonly retryAfterMs: number | undefined } | UpstreamFailure> {
  const { pollTimeoutMs: timeoutMs } = deps;
  const answer = await callProvider(deps, { provider, format, model: endpoint.upstreamModel, call, timeoutMs });
  if ('kind' in answer) return answer;
  if (answer.holdsClip) return { found: { state: 'completed', clips: [{ inside: call }] }, retryAfterMs: undefined };
  if (answer.body === undefined && !answer.isEmpty) return unreadable();
  try {
    return { found: format.decodeJob(answer.status, answer.body), retryAfterMs: answer.retryAfterMs };
  } catch (error) {
    if (error instanceof UnreadableVideo) return unreadable();
    throw error;
  }
}

/** A process ended while it submitted the job: whether a provider has it is not known. @spec video-7 */
async function giveUp(deps: PollDeps, job: VideoJob, facts: JobFacts): Promise<void> {
  deps.onAlarm('a job may have been accepted by its provider: the gateway was stopped while it submitted it', {
    id: job.id,
    provider: job.provider,
  });
  const reason = new GatewayError(
    'provider_unavailable',
    'The gateway was stopped while it submitted the job: the provider may have accepted it. Nothing is charged.',
    { metadata: { maybe_charged: true } },
  );
  await endJob(deps, job, facts, { status: 'failed', reason, isHidden: true });
}

async function expire(deps: PollDeps, job: VideoJob, facts: JobFacts, accepted: AcceptedFacts): Promise<void> {
  const called = await connect(deps, accepted);
  if (!('kind' in called) && called.mayCancel) await cancelAtProvider(deps, called, accepted);
  await endJob(deps, job, facts, { status: 'expired', reason: endedBy('expired') });
}

/** A reservation that was lost with its state is made again. It never refuses a job that runs. */
async function keepReservation(deps: PollDeps, job: VideoJob, { principal, limits, worst }: JobFacts): Promise<void> {
  if (!deps.ledger.isLimited(limits)) return;
  const leftMs = job.createdAtMs + deps.jobMs - deps.clock.nowMs();
  try {
    await deps.ledger.reserve(principal, limits, () => ({
      generationId: job.generationId,
      worst,
      least: NOTHING,
      affordableTokens: () => Infinity,
      expiresInMs: Math.max(0, leftMs) + GRACE_MS,
    }));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

const NOTHING = { ownNanoUsd: 0, byokNanoUsd: 0 } as const;

async function afterFailure(deps: PollDeps, job: VideoJob, facts: JobFacts, failure: UpstreamFailure): Promise<void> {
  const { retryAfterMs } = failure;
  if (!MISSING_STATUSES.has(failure.upstreamStatus)) return lookAgain(deps, job, { retryAfterMs });
  return missing(deps, job, facts, { reason: 'The provider does not know the job any more.', retryAfterMs });
}

/** Once may be an error of the provider; several times are not. */
async function missing(
  deps: PollDeps,
  job: VideoJob,
  facts: JobFacts,
  { reason, retryAfterMs }: { readonly reason: string; readonly retryAfterMs?: number | undefined },
): Promise<void> {
  const count = job.missing + 1;
  if (count < MISSING_MAX)
    return lookAgain(deps, job, {
      retryAfterMs,
      changes: { missing: count, missingSinceMs: job.missingSinceMs ?? Math.floor(deps.clock.nowMs()) },
    });
  await endJob(deps, job, facts, { status: 'failed', reason: new GatewayError('provider_unavailable', reason) });
}

/** The clip is made and paid for, so that its storage gets time. */
async function wait(deps: PollDeps, job: VideoJob, facts: JobFacts, { message }: ClipAway): Promise<void> {
  const nowMs = Math.floor(deps.clock.nowMs());
  const sinceMs = job.missingSinceMs ?? nowMs;
  if (nowMs - sinceMs <= deps.times.awayMsMax) return lookAgain(deps, job, { changes: { missingSinceMs: sinceMs } });
  await endJob(deps, job, facts, { status: 'failed', reason: new GatewayError('provider_unavailable', message) });
}

async function complete(
  deps: PollDeps,
  job: VideoJob,
  facts: JobFacts,
  {
    provider,
    endpoint,
    format,
    found,
  }: Connected & {
    readonly accepted: AcceptedFacts;
    readonly found: Extract<UpstreamJob, { readonly state: 'completed' }>;
  },
): Promise<void> {
  // Copying may take longer than a lease.
  const heartbeat = setInterval(() => {
    const leaseUntilMs = Math.floor(deps.clock.nowMs()) + deps.times.leaseMs;
    deps.jobs.change(job, deps.owner, { leaseUntilMs }).catch(() => undefined);
  }, deps.times.leaseMs / 3);
  try {
    const clips = found.clips.slice(0, CLIPS_MAX).map((clip) => sourceOf(clip, provider, format));
    const assets = await keepClips(
      deps,
      job,
      clips.map((source) => ({ provider, format: format.id, model: endpoint.upstreamModel, source })),
    );
    const { durationMs } = found;
    const ended = { ...facts, clips, ...(durationMs !== undefined && { durationMs }) };
    await endJob(deps, job, ended, { status: 'completed', assets, ...native(found) });
  } catch (error) {
    if (error instanceof ClipAway) return await wait(deps, job, facts, error);
    if (error instanceof ClipGone) return await missing(deps, job, facts, { reason: error.message });
    if (!(error instanceof NoClip)) throw error;
    const reason = new GatewayError('provider_unavailable', error.message);
    await endJob(deps, job, facts, { status: 'failed', reason, ...native(found) });
  } finally {
    clearInterval(heartbeat);
  }
}

function failureOf({ message, isModerated }: Extract<UpstreamJob, { readonly state: 'failed' }>): GatewayError {
  const said = message === undefined ? '' : ` The provider's message: ${message.slice(0, MESSAGE_CHARS_MAX)}`;
  return isModerated
    ? new GatewayError('content_policy_violation', `The provider refused the request.${said}`)
    : new GatewayError('provider_unavailable', `The provider could not make the clip.${said}`);
}

function native({ nativeState }: Found): { readonly nativeState?: string } {
  return nativeState === undefined ? {} : { nativeState: nativeState.slice(0, NATIVE_STATE_CHARS_MAX) };
}

/** The job goes on: when it is looked at again, by whichever process. */
async function lookAgain(
  deps: PollDeps,
  job: VideoJob,
  { retryAfterMs, changes = {} }: { readonly retryAfterMs?: number | undefined; readonly changes?: VideoJobChanges },
): Promise<void> {
  const nowMs = Math.floor(deps.clock.nowMs());
  await deps.jobs.change(job, deps.owner, {
    ...changes,
    polls: job.polls + 1,
    updatedAtMs: nowMs,
    nextPollMs: nowMs + nextPollMs(deps, job.polls + 1, retryAfterMs),
    leaseOwner: null,
    leaseUntilMs: 0,
  });
}

/** Ever later, up to a bound, and not for all jobs at once. */
export function nextPollMs(
  { times, random }: Pick<PollDeps, 'times' | 'random'>,
  polls: number,
  retryAfterMs?: number,
): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, RETRY_AFTER_MS_MAX);
  const ms = Math.min(times.pollMsMax, times.firstPollMs * POLL_FACTOR ** polls);
  return Math.round(ms * (1 + JITTER * random()));
}
