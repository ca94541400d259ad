import type { VideoJob } from '../store/video-jobs/columns.ts';
import type { SeenVideoJob } from '../store/video-jobs/search-jobs.ts';
import type { JobView } from '../wire/video/answer-out.ts';
import { viewOf } from './view.ts';

/** A job in the list of operators: how it went, and nothing of the content of its request. */
export interface ListedVideoJob
  extends
    Omit<JobView, 'prompt' | 'shape' | 'clips' | 'expiresAtMs'>,
    Pick<
      VideoJob,
      | 'accountId'
      | 'workspaceId'
      | 'keyHash'
      | 'assets'
      | 'assetsUntilMs'
      | 'polls'
      | 'nextPollMs'
      | 'callbackAtMs'
      | 'callbackTries'
    >,
    Pick<SeenVideoJob, 'keyName' | 'memberId'> {
  /** Slug of the provider. */
  readonly providerSlug: string | null;
}

export function listedOf({ job, keyName, memberId }: SeenVideoJob): ListedVideoJob {
  const { prompt: _prompt, shape: _shape, clips: _clips, expiresAtMs: _expires, ...view } = viewOf(job);
  const { accountId, workspaceId, keyHash, assets, assetsUntilMs, polls, nextPollMs, callbackAtMs, callbackTries } =
    job;
  return {
    ...view,
    accountId,
    workspaceId,
    keyHash,
    assets,
    assetsUntilMs,
    polls,
    nextPollMs,
    callbackAtMs,
    callbackTries,
    keyName,
    memberId,
    providerSlug: job.provider,
  };
}
