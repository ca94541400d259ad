import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestPermit } from '../accounts/limits/rate-limits.ts';
import type { Principal } from '../accounts/principal.ts';
import type { SpendLimit } from '../accounts/limits/spend-limit.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { VideoOperation } from '../canonical/video.ts';
import { costOf } from '../catalog/price.ts';
import { admit } from '../pipeline/admission/admit.ts';
import type { FetchMediaDeps } from '../pipeline/operation/fetch-media.ts';
import { filterOperation } from '../pipeline/operation/filter-operation.ts';
import type { AnswerWriter } from '../pipeline/operation/operation-request.ts';
import { planOperation } from '../pipeline/operation/plan-operation.ts';
import type { OperationDeps } from '../pipeline/operation/run-operation.ts';
import { OpenRequest } from '../pipeline/open-request.ts';
import type { Candidate, RoutePlan } from '../routing/route-plan.ts';
import type { VideoJob } from '../store/video-jobs/columns.ts';
import { NEW_JOB, type VideoJobStore } from '../store/video-jobs/video-jobs.ts';
import type { Poster } from '../telemetry/destinations/post.ts';
import { encodeJob } from '../wire/video/answer-out.ts';
import { encodeFacts, longestS, variantsOf, type JobFacts } from './facts.ts';
import { fetchMedia } from './fetch-media.ts';
import { nextPollMs, type VideoTimes } from './poll-job.ts';
import { submitJob, type Accepted, type SubmitDeps } from './submit-job.ts';
import { newJobId } from './job-id.ts';
import { viewOf } from './view.ts';

export interface RunVideoDeps extends OperationDeps, SubmitDeps, FetchMediaDeps {
  readonly jobs: VideoJobStore;
  readonly times: VideoTimes;
  readonly owner: string;
  readonly jobMs: number;
  readonly poster: Poster;
  /** For requests that name no address. */
  readonly callbackUrl: string | undefined;
  readonly nowMs: () => number;
  readonly onAlarm: (problem: string, facts: object) => void;
}

/** A request for a clip, authenticated and decoded. */
export interface IncomingVideo {
  readonly id: string;
  readonly request: VideoOperation;
  readonly principal: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  readonly place?: RequestPermit | undefined;
  readonly isLarge?: boolean;
}

/** Answers the caller in every case; settles when its job is on its way. Never rejects. */
export type RunVideo = (incoming: IncomingVideo, writer: AnswerWriter) => Promise<void>;

const OPEN_PER_KEY_MAX = 100;
const OPEN_PER_ACCOUNT_MAX = 1_000;
const RETRY_AFTER_MS = 30_000;
const MS_PER_S = 1_000;
/** What a reservation outlives its job by. */
const GRACE_MS = 3_600_000;
/** The database may be away for a moment while a provider accepts a job. */
const WRITE_TRIES = 4;
const WRITE_PAUSE_MS = 500;

/** A request for a clip, from its arrival to the job that it becomes. */
export function createRunVideo(deps: RunVideoDeps): RunVideo {
  return async (incoming, writer) => {
    const open = new OpenRequest<VideoOperation>(deps, incoming, writer);
    deps.streams.requestBegan();
    const begun: Begun = { job: undefined };
    try {
      const { job, accepted } = await begin(deps, open, incoming, begun);
      await open.handOver();
      writer.announce({ 'x-provider': encodeURI(accepted.providerName) });
      const body = Buffer.from(JSON.stringify(encodeJob(viewOf(job), deps.baseUrl())));
      await writer.answerPieces(open.facts.log.id, [body], undefined, incoming.request.shape === 'vendor' ? 200 : 202);
    } catch (error) {
      const refusal = await open.fail(error);
      if (begun.job !== undefined) await hide(deps, begun.job, refusal);
      writer.refuse(refusal, open.errorContext());
    } finally {
      await open.close();
      deps.streams.requestEnded();
    }
  };
}

/** What of a request filters look through. */
const PROMPT: Parameters<typeof filterOperation<VideoOperation>>[2] = {
  texts: ({ prompt }) => (prompt === undefined ? [] : [prompt]),
  withTexts: ({ prompt: _prompt, ...request }, [prompt]) => ({ ...request, ...(prompt !== undefined && { prompt }) }),
};

interface Begun {
  job: VideoJob | undefined;
}

/** The steps up to a job that a provider has accepted. @throws GatewayError in place of it */
async function begin(
  deps: RunVideoDeps,
  open: OpenRequest<VideoOperation>,
  { request: received, principal }: IncomingVideo,
  begun: Begun,
): Promise<{ readonly job: VideoJob; readonly accepted: Accepted }> {
  const { facts, reservation, cancellation } = open;
  const { log, report } = facts;
  deps.takeRoom();
  log.hasRoom = true;
  const rules = await admit(deps, principal);
  await refuseTooMany(deps, principal);
  const checked = withCallback(deps, received);
  log.request = await filterOperation(deps, checked, PROMPT, { facts, policy: rules.policy, cancellation });
  const route = planOperation(deps, log.request, rules, report);
  const media = await fetchMedia(deps, log.request, { owner: principal, signal: cancellation.signal });
  open.defer(() => media.close());
  log.request = withoutMedia(media.request);
  const worst = worstOf(log.request, route.plan, log.createdMs);
  await reservation.reserve(
    rules.limits,
    () => ({
      generationId: log.id,
      worst,
      // There is no smaller clip: the money pays for it, or for nothing.
      affordableTokens: (nanoUsd) => (nanoUsd >= Math.max(worst.ownNanoUsd, worst.byokNanoUsd) ? Infinity : 0),
      expiresInMs: deps.jobMs + GRACE_MS,
    }),
    { promptTokens: () => 0, isFree: route.resolved.models.some(({ slug }) => slug.endsWith(':free')) },
  );
  const known = (): JobFacts => factsOf(open, principal, rules.limits, worst);
  const job = newJob(deps, open, principal, known());
  await deps.jobs.insert(job);
  begun.job = job;
  const accepted = await submitJob(deps, {
    plan: route.plan,
    request: media.request,
    facts,
    onTry: (provider) => mustChange(deps, job, { provider, updatedAtMs: Math.floor(deps.nowMs()) }),
  });
  return { job: await noteAccepted(deps, job, known(), accepted), accepted };
}

/** @throws GatewayError 429 */
async function refuseTooMany({ jobs }: RunVideoDeps, principal: Principal): Promise<void> {
  const { key, account } = await jobs.countOpen(principal);
  if (key < OPEN_PER_KEY_MAX && account < OPEN_PER_ACCOUNT_MAX) return;
  const [most, of] = key < OPEN_PER_KEY_MAX ? [OPEN_PER_ACCOUNT_MAX, 'an account'] : [OPEN_PER_KEY_MAX, 'a key'];
  throw new GatewayError('rate_limit_exceeded', `At most ${most} jobs of ${of} may be open at a time.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** @throws GatewayError 400 for an address that is never called */
function withCallback({ poster, callbackUrl }: RunVideoDeps, request: VideoOperation): VideoOperation {
  if (request.directives.provider.zdr)
    throw invalid('provider.zdr', 'cannot be true here: the clip of a job is kept until it is fetched');
  const fault = request.callbackUrl === undefined ? undefined : poster.faultOf(request.callbackUrl);
  if (fault !== undefined) throw invalid('callback_url', fault);
  return request.callbackUrl === undefined && callbackUrl !== undefined ? { ...request, callbackUrl } : request;
}

/** Digests stand for media: neither records nor the database keep them. */
function withoutMedia(request: VideoOperation): VideoOperation {
  const digest = (url: string): string => `sha256:${createHash('sha256').update(url).digest('hex')}`;
  return {
    ...request,
    frames: request.frames.map((frame) => ({ ...frame, url: digest(frame.url) })),
    references: request.references.map((reference) => ({ ...reference, url: digest(reference.url) })),
  };
}

/** The most that the clip may cost: as long as requested, or as any of the model's, at the dearest endpoint. */
export function worstOf(request: VideoOperation, { candidates, cooling }: RoutePlan, atMs: number): JobFacts['worst'] {
  const all = [...candidates, ...cooling.map(({ candidate }) => candidate)];
  const most = (some: readonly Candidate[]): number =>
    some.reduce((sum, { endpoint: { price, video } }) => {
      if (price === undefined) return sum;
      const videoMs = longestS(request, video) * MS_PER_S;
      const usage = { ...NO_USAGE, units: { clips: 1, videoMs, videoVariants: variantsOf(request, video) } };
      return Math.max(sum, costOf(price, usage, { atMs, isWorst: true })?.totalNanoUsd ?? 0);
    }, 0);
  return {
    ownNanoUsd: most(all.filter(({ credential }) => credential === undefined)),
    byokNanoUsd: most(all.filter(({ credential }) => credential !== undefined)),
  };
}

function factsOf(
  { facts: { log, report } }: OpenRequest<VideoOperation>,
  principal: Principal,
  limits: readonly SpendLimit[],
  worst: JobFacts['worst'],
): JobFacts {
  const { request, endUserId, attempts, warnings, warningsDropped } = log;
  return {
    version: 1,
    request,
    principal,
    endUserId,
    limits,
    worst,
    attempts: [...attempts],
    warnings: [...warnings],
    warningsDropped,
    report,
  };
}

function newJob(
  deps: RunVideoDeps,
  { facts: { log, report } }: OpenRequest<VideoOperation>,
  { accountId, workspaceId, keyHash }: Principal,
  facts: JobFacts,
): VideoJob {
  const nowMs = Math.floor(deps.nowMs());
  return {
    ...NEW_JOB,
    id: newJobId(nowMs),
    generationId: log.id,
    accountId,
    workspaceId,
    keyHash,
    status: 'pending',
    // It is listed once it is accepted.
    isListed: false,
    model: report.requested,
    createdAtMs: Math.floor(log.createdMs),
    updatedAtMs: nowMs,
    nextPollMs: nowMs,
    leaseOwner: deps.owner,
    leaseUntilMs: nowMs + deps.times.submitLeaseMs,
    facts: encodeFacts(facts),
  };
}

type Changes = Parameters<VideoJobStore['change']>[2];

/** @throws GatewayError 503 where another process has given the job up: this one was stopped for long */
async function mustChange({ jobs, owner }: RunVideoDeps, job: VideoJob, changes: Changes): Promise<void> {
  if (await jobs.change(job, owner, changes)) return;
  throw new GatewayError('provider_overloaded', 'The gateway has given the job up. Send it again.', { status: 503 });
}

/** A job that a provider has and the database has not would run on unseen: so it is written down, or reported. */
async function noteAccepted(deps: RunVideoDeps, job: VideoJob, facts: JobFacts, accepted: Accepted): Promise<VideoJob> {
  const { providerName: _name, retryAfterMs, ...kept } = accepted;
  const nowMs = Math.floor(deps.nowMs());
  const changes: Changes = {
    isSubmitted: true,
    isListed: true,
    provider: accepted.endpoint.provider,
    isByok: accepted.credential !== undefined,
    updatedAtMs: nowMs,
    nextPollMs: nowMs + nextPollMs(deps, 0, retryAfterMs),
    leaseOwner: null,
    leaseUntilMs: 0,
    facts: encodeFacts({ ...facts, accepted: kept }),
  };
  for (let tries = 1; ; tries++) {
    try {
      await mustChange(deps, job, changes);
      return { ...job, ...changes };
    } catch (error) {
      if (tries < WRITE_TRIES && !(error instanceof GatewayError)) {
        await sleep(WRITE_PAUSE_MS);
        continue;
      }
      deps.onAlarm('a provider has accepted a job that could not be written down', {
        id: job.id,
        provider: accepted.endpoint.provider,
        upstreamId: accepted.jobId,
      });
      throw error;
    }
  }
}

/** The response to the job's request says that it failed: no list has it. What cannot be written now is found when its lease is over. */
async function hide({ jobs, owner, nowMs, onAlarm }: RunVideoDeps, job: VideoJob, error: GatewayError): Promise<void> {
  const atMs = Math.floor(nowMs());
  if (error.metadata?.['maybe_charged'] === true)
    onAlarm('a job may have been accepted by its provider', { id: job.id, error: error.message });
  const changes = {
    status: 'failed',
    isListed: false,
    error: error.message,
    costNanoUsd: 0,
    updatedAtMs: atMs,
    finishedAtMs: atMs,
    expiresAtMs: atMs + HIDDEN_MS,
    leaseOwner: null,
    leaseUntilMs: 0,
  } as const;
  await jobs.change(job, owner, changes).catch(() => undefined);
}

/** How long the row of a job stays whose request failed. */
const HIDDEN_MS = 604_800_000;
