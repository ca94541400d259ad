import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Files } from '../accounts/files.ts';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import { createHousekeeping } from '../lib/async/housekeeping.ts';
import type { JsonObject } from '../lib/json.ts';
import type { VideoAsset, VideoJob, VideoStatus } from '../store/video-jobs/columns.ts';
import type { VideoJobSearch } from '../store/video-jobs/search-jobs.ts';
import type { VideoJobOwner } from '../store/video-jobs/video-jobs.ts';
import { encodeDeletedJob, encodeJob, encodeJobList, isFinal } from '../wire/video/answer-out.ts';
import { reportToCallers, type CallbackDeps } from './callbacks.ts';
import { ClipGone, openClip } from './clips.ts';
import { endedBy, endJob } from './end-job.ts';
import { decodeFacts } from './facts.ts';
import { listedOf, type ListedVideoJob } from './listed.ts';
import { filenameOf } from './keep-clips.ts';
import { cancelAtProvider, connect, nextPollMs } from './poll-job.ts';
import { Poller, type PollerDeps } from './poller.ts';
import { parseRange, type WantedRange } from './range.ts';
import { createRunVideo, type RunVideo, type RunVideoDeps } from './run-video.ts';
import { viewOf } from './view.ts';

export interface VideoJobsDeps extends PollerDeps, CallbackDeps, RunVideoDeps {
  readonly files: Pick<Files, 'keep' | 'download' | 'delete'>;
  /** Whether this process looks at jobs and tells callers; one process of a gateway does. */
  readonly keepsStore: boolean;
  readonly onHousekeepingFailed: (error: unknown) => void;
}

export interface JobWindow {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly status?: VideoStatus | undefined;
}

/** A clip as it leaves. */
export interface ClipAnswer {
  /** 200, or 206 for a part. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
  readonly mediaType: string;
}

/** Jobs that make clips: from the request to the clip. */
export interface VideoJobs {
  /** Answers a request for a clip with its job. */
  readonly run: RunVideo;
  /** @throws GatewayError 404 */
  get(
    principal: Principal,
    id: string,
  ): Promise<{ readonly job: JsonObject; readonly retryAfterS: number | undefined }>;
  list(principal: Principal, window: JobWindow): Promise<JsonObject>;
  /** Jobs of all workspaces that the caller sees, without what they are about. */
  search(search: VideoJobSearch): Promise<{ readonly jobs: readonly ListedVideoJob[]; readonly hasMore: boolean }>;
  /**
   * Cancels a job that runs; removes one that is over, with its clips.
   * @throws GatewayError 404; 409 where the provider cancels none
   */
  delete(owner: VideoJobOwner, id: string): Promise<JsonObject>;
  /** Cancels a job that runs. @throws GatewayError 404; 409 for one that is over, and where the provider cancels none */
  cancel(owner: VideoJobOwner, id: string): Promise<void>;
  /** Removes a job that is over, with its clips. @throws GatewayError 404; 409 for one that runs */
  remove(owner: VideoJobOwner, id: string): Promise<void>;
  /** @throws GatewayError 400 before the job is completed; 404; 502 where the provider has the clip no more */
  content(
    owner: VideoJobOwner,
    id: string,
    wanted: { readonly index: number; readonly range?: string },
  ): Promise<ClipAnswer>;
  start(): void;
  close(): Promise<void>;
}

const CLEAR_EVERY_MS = 600_000;
const CLEAR_PAUSE_MS = 1_000;
const MS_PER_S = 1_000;

/** The name of a process among those that share a database. */
export function newOwner(): string {
  return randomUUID();
}

export function createVideoJobs(deps: VideoJobsDeps): VideoJobs {
  const { jobs, baseUrl } = deps;
  const poller = new Poller(deps);
  const keep = (work: () => Promise<boolean>, everyMs: number, pauseMs: number) =>
    createHousekeeping({ work, everyMs, pauseMs, onFailed: deps.onHousekeepingFailed });
  const rounds = [
    keep(() => poller.round(), deps.times.tickMs, 0),
    keep(() => reportToCallers(deps), deps.times.tickMs, 0),
    keep(() => jobs.clearAway(), CLEAR_EVERY_MS, CLEAR_PAUSE_MS),
  ];
  const find = async (owner: VideoJobOwner, id: string): Promise<VideoJob> => {
    const job = await jobs.find(owner, id);
    if (job === undefined) throw noSuchJob();
    return job;
  };
  return {
    run: createRunVideo(deps),
    async get(principal, id) {
      const job = await find(principal, id);
      const view = viewOf(job);
      const leftMs = Math.max(MS_PER_S, job.nextPollMs - deps.clock.nowMs());
      return { job: encodeJob(view, baseUrl()), retryAfterS: isFinal(view) ? undefined : Math.ceil(leftMs / MS_PER_S) };
    },
    async list(principal, { limit, after, status }) {
      const found = await jobs.list(principal, { limit: limit + 1, afterId: after, status });
      return encodeJobList(found.slice(0, limit).map(viewOf), found.length > limit, baseUrl());
    },
    async search(search) {
      const found = await jobs.search({ ...search, limit: search.limit + 1 });
      return { jobs: found.slice(0, search.limit).map(listedOf), hasMore: found.length > search.limit };
    },
    async delete(owner, id) {
      const job = await find(owner, id);
      if (!isFinal(job)) return encodeJob(viewOf(await cancel(deps, owner, job)), baseUrl());
      await remove(deps, owner, job);
      return encodeDeletedJob(viewOf(job));
    },
    async cancel(owner, id) {
      const job = await find(owner, id);
      if (isFinal(job)) throw conflict(`The job is over: it is ${job.status}.`);
      await cancel(deps, owner, job);
    },
    async remove(owner, id) {
      const job = await find(owner, id);
      if (!isFinal(job)) throw conflict('The job is not over: cancel it first.');
      await remove(deps, owner, job);
    },
    async content(owner, id, { index, range }) {
      const job = await find(owner, id);
      return readClip(deps, job, index, range);
    },
    start() {
      if (deps.keepsStore) for (const round of rounds) round.start();
    },
    async close() {
      await Promise.all(rounds.map((round) => round.stop()));
      await poller.idle();
    },
  };
}

function noSuchJob(): GatewayError {
  return new GatewayError('not_found', 'There is no such job.');
}

/** Only where its provider stops: else the operator would pay for a clip that is never fetched. */
async function cancel(deps: VideoJobsDeps, of: VideoJobOwner, { id }: VideoJob): Promise<VideoJob> {
  const { jobs, owner, times } = deps;
  const job = await jobs.take(of, id, { owner, leaseMs: times.leaseMs });
  if (job === undefined) {
    const over = await mustFind(deps, of, id);
    if (isFinal(over)) return over;
    throw conflict('The job is being submitted: it cannot be cancelled yet.');
  }
  const facts = decodeFacts(job.facts);
  const { accepted } = facts;
  const release = (): Promise<boolean> =>
    jobs.change(job, owner, {
      leaseOwner: null,
      leaseUntilMs: 0,
      nextPollMs: Math.floor(deps.clock.nowMs()) + nextPollMs(deps, job.polls),
    });
  const called = accepted && (await connect(deps, accepted));
  if (accepted === undefined || called === undefined || 'kind' in called || !called.mayCancel) {
    await release();
    throw conflict('The provider of the job cannot cancel it: it goes on, and is charged once it is completed.');
  }
  const failure = await cancelAtProvider(deps, called, accepted);
  if (failure !== undefined) {
    await release();
    throw conflict('The provider did not cancel the job: it goes on. Try again.');
  }
  await endJob(deps, job, facts, { status: 'cancelled', reason: endedBy('cancelled') });
  return mustFind(deps, of, id);
}

async function mustFind({ jobs }: VideoJobsDeps, owner: VideoJobOwner, id: string): Promise<VideoJob> {
  const job = await jobs.find(owner, id);
  if (job === undefined) throw noSuchJob();
  return job;
}

function conflict(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { status: 409 });
}

async function remove({ files, jobs }: VideoJobsDeps, owner: VideoJobOwner, job: VideoJob): Promise<void> {
  for (const { fileId } of job.assets) if (fileId !== undefined) await files.delete(job, fileId).catch(unlessMissing);
  if (!(await jobs.remove(owner, job.id))) throw noSuchJob();
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof GatewayError && error.status === 404) return undefined;
  throw error;
}

async function readClip(
  deps: VideoJobsDeps,
  job: VideoJob,
  index: number,
  range: string | undefined,
): Promise<ClipAnswer> {
  if (job.status !== 'completed')
    throw new GatewayError('invalid_request', `The job is not completed, but ${job.status}: it has no clip.`);
  const asset = job.assets[index];
  if (asset === undefined) throw new GatewayError('not_found', `index: the job has ${job.assets.length} clips.`);
  if (job.assetsUntilMs !== null && deps.clock.nowMs() > job.assetsUntilMs)
    throw new GatewayError('not_found', 'The clip has expired.');
  const { mediaType } = asset;
  const stored = await readStored(deps, job, asset, range);
  const { status, headers, body } = stored ?? (await readProxied(deps, job, index, range));
  return {
    status,
    body,
    mediaType,
    headers: {
      ...headers,
      'accept-ranges': 'bytes',
      'cache-control': 'private',
      // What a stranger made must not run in a browser as a page of the gateway.
      'content-disposition': `attachment; filename="${filenameOf(job.id, index, mediaType)}"`,
      'x-content-type-options': 'nosniff',
    },
  };
}

type Bytes = Omit<ClipAnswer, 'mediaType'>;

/** `undefined`: it is not stored, or not on the disk of this gateway. */
async function readStored(
  { files }: VideoJobsDeps,
  job: VideoJob,
  { fileId, bytes }: VideoAsset,
  range: string | undefined,
): Promise<Bytes | undefined> {
  if (fileId === undefined || bytes === undefined) return undefined;
  const part = parseRange(range, bytes);
  const found = await files.download(job, fileId, part).catch((error: unknown) => {
    if (error instanceof GatewayError && (error.status === 503 || error.status === 404)) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  return { ...headOf(part, bytes), body: found.content };
}

function headOf(part: WantedRange | undefined, bytes: number): Pick<Bytes, 'status' | 'headers'> {
  if (part === undefined) return { status: 200, headers: { 'content-length': String(bytes) } };
  return {
    status: 206,
    headers: {
      'content-length': String(part.end - part.start + 1),
      'content-range': `bytes ${part.start}-${part.end}/${bytes}`,
    },
  };
}

const PASSED_ON = ['content-length', 'content-range'] as const;

/** @throws GatewayError 502 where the provider does not have it any more */
async function readProxied(
  deps: VideoJobsDeps,
  job: VideoJob,
  index: number,
  range: string | undefined,
): Promise<Bytes> {
  const { accepted, clips } = decodeFacts(job.facts);
  const source = clips?.[index];
  const called = accepted && (await connect(deps, accepted));
  if (source === undefined || called === undefined || 'kind' in called) throw gone();
  const { provider, endpoint, format } = called;
  const clip = { provider, format: format.id, model: endpoint.upstreamModel, source };
  try {
    let open = await openClip(deps, { ...clip, range: isOneRange(range) ? range : undefined });
    if (open.status === 416) {
      open.close();
      open = await openClip(deps, clip);
    }
    const passed = PASSED_ON.flatMap((name) => {
      const value = open.headers[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    const body = Readable.from(open.chunks, { objectMode: false });
    body.once('close', () => open.close());
    return { status: open.status, headers: Object.fromEntries(passed), body };
  } catch (error) {
    if (error instanceof ClipGone) throw gone(error);
    throw error;
  }
}

function isOneRange(range: string | undefined): boolean {
  return range !== undefined && /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/.test(range);
}

function gone(cause?: unknown): GatewayError {
  return new GatewayError('provider_unavailable', 'The provider does not have the clip any more.', { cause });
}
