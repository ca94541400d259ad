import { createHmac } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import type { VideoJob } from '../store/video-jobs/columns.ts';
import type { VideoJobStore } from '../store/video-jobs/video-jobs.ts';
import type { Poster } from '../telemetry/destinations/post.ts';
import { encodeCallback } from '../wire/video/answer-out.ts';
import { decodeFacts } from './facts.ts';
import { viewOf } from './view.ts';
import type { VideoTimes } from './poll-job.ts';

export interface CallbackDeps {
  readonly jobs: VideoJobStore;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly times: VideoTimes;
  readonly owner: string;
  readonly baseUrl: () => string;
  /** Signs what is sent. Absent: it is not signed. */
  readonly secret: string | undefined;
  readonly onReported: (outcome: 'delivered' | 'failed' | 'given_up') => void;
}

/** Each of them takes up to ten seconds. */
const AT_ONCE_MAX = 4;
const MS_PER_S = 1_000;

/** Reports jobs that are over to the addresses of their callers. @returns whether there may be more */
export async function reportToCallers(deps: CallbackDeps): Promise<boolean> {
  const { jobs, owner, times } = deps;
  const due = await jobs.leaseCallbacks({ owner, leaseMs: times.leaseMs, limit: AT_ONCE_MAX });
  await Promise.all(due.map((job) => report(deps, job)));
  return due.length === AT_ONCE_MAX;
}

async function report(deps: CallbackDeps, job: VideoJob): Promise<void> {
  const { jobs, clock, owner, times } = deps;
  const { callbackUrl } = decodeFacts(job.facts).request;
  if (callbackUrl === undefined) return jobs.noteCallback(job.id, owner, { callbackAtMs: null, callbackTries: 0 });
  const body = JSON.stringify(encodeCallback(viewOf(job), deps.baseUrl()));
  const { status } = await deps.poster.post({
    url: callbackUrl,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-idempotency-key': `${job.id}-${job.status}`,
      ...(deps.secret !== undefined && signatureOf(deps.secret, body, clock.nowMs())),
    },
    body,
  });
  const callbackTries = job.callbackTries + 1;
  const isDelivered = status !== undefined && status >= 200 && status < 300;
  const delayMs = isDelivered ? undefined : times.callbackDelaysMs[callbackTries];
  deps.onReported(isDelivered ? 'delivered' : delayMs === undefined ? 'given_up' : 'failed');
  const callbackAtMs = delayMs === undefined ? null : Math.floor(clock.nowMs()) + delayMs;
  await jobs.noteCallback(job.id, owner, { callbackAtMs, callbackTries });
}

/** The receiver computes the same over the time, a comma, and the bytes that came. @spec video-17 */
function signatureOf(secret: string, body: string, nowMs: number): Readonly<Record<string, string>> {
  const time = Math.floor(nowMs / MS_PER_S);
  const signature = createHmac('sha256', secret).update(`${time},${body}`).digest('hex');
  return { 'x-service-signature': `t=${time},v1=${signature}` };
}
