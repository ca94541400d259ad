import type { Database } from '../engine/database.ts';
import { storableText } from '../portable.ts';
import { type VideoJob, type VideoJobsTable } from './columns.ts';

/** Which jobs a list has, over all workspaces. */
export interface VideoJobSearch {
  readonly accountId: string;
  readonly limit: number;
  /** Only jobs that are older than this one. */
  readonly afterId?: string | undefined;
  readonly id?: string | undefined;
  readonly status?: VideoJob['status'] | undefined;
  readonly model?: string | undefined;
  /** Its slug. */
  readonly provider?: string | undefined;
  readonly keyHash?: string | undefined;
  readonly workspaceId?: string | undefined;
  /** The only key whose jobs are there for the caller. */
  readonly onlyKey?: string | undefined;
  /** Only jobs of keys of this user, and those of these workspaces. */
  readonly onlyOf?: { readonly memberId: string; readonly workspaceIds: readonly string[] } | undefined;
}

/** A job with its key. */
export interface SeenVideoJob {
  readonly job: VideoJob;
  /** Null: a key from the environment. */
  readonly keyName: string | null;
  /** The user that the key was made for. */
  readonly memberId: string | null;
}

/** The newest first. */
export async function searchJobs(
  { reports }: Pick<Database, 'reports'>,
  open: (rows: readonly VideoJobsTable[]) => Promise<readonly VideoJob[]>,
  search: VideoJobSearch,
): Promise<readonly SeenVideoJob[]> {
  const { afterId, onlyKey, onlyOf } = search;
  let query = reports
    .selectFrom('video_jobs')
    .leftJoin('keys', 'keys.hash', 'video_jobs.key_hash')
    .selectAll('video_jobs')
    .select(['keys.name as key_name', 'keys.creator_user_id as member_id'])
    .where('video_jobs.account_id', '=', search.accountId)
    .where('video_jobs.is_listed', '=', 1);
  for (const [column, value] of [
    ['video_jobs.id', search.id],
    ['video_jobs.status', search.status],
    ['video_jobs.model', search.model],
    ['video_jobs.provider', search.provider],
    ['video_jobs.key_hash', search.keyHash],
    ['video_jobs.workspace_id', search.workspaceId],
    ['video_jobs.key_hash', onlyKey],
  ] as const)
    if (value !== undefined) query = query.where(column, '=', storableText(value));
  if (afterId !== undefined) query = query.where('video_jobs.id', '<', storableText(afterId));
  if (onlyOf !== undefined)
    query = query.where((is) => {
      const own = is('keys.creator_user_id', '=', onlyOf.memberId);
      const { workspaceIds } = onlyOf;
      return workspaceIds.length === 0 ? own : is.or([own, is('video_jobs.workspace_id', 'in', workspaceIds)]);
    });
  const rows = await query.orderBy('video_jobs.id', 'desc').limit(search.limit).execute();
  const jobs = await open(rows.map(({ key_name: _name, member_id: _member, ...columns }) => columns));
  return rows.map(({ key_name: keyName, member_id: memberId }, at) => ({
    job: jobs[at] ?? missing(),
    keyName,
    memberId,
  }));
}

function missing(): never {
  throw new Error('Each row is opened to one job.');
}
