import { z } from 'zod';
import type { Touched } from '../../../accounts/people/viewer.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { serializeTime } from '../../../resources/columns.ts';
import type { ListedVideoJob } from '../../../video-jobs/listed.ts';
import { isFinal } from '../../../wire/video/answer-out.ts';
import { sightOf } from '../generations/sight.ts';
import { callerOf } from '../owner.ts';
import { filterSchema } from '../page.ts';
import { defineRoute, NO_BODY, NO_CONTENT, NOTHING, type RouteContext } from '../route.ts';
import { clipBytes, clipIndex, videoPathSchema, videoStatus } from './video-shape.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

const text = z.string().nullable();
const time = z.iso.datetime();

const listedSchema = z
  .strictObject({
    id: z.string(),
    status: videoStatus,
    generation_id: z.string(),
    workspace_id: z.string(),
    api_key_hash: z.string(),
    api_key_name: text.describe('Null: a key from the environment.'),
    model: z.string(),
    provider: text.describe('Its slug. Null: none has it yet.'),
    provider_name: text,
    created_at: time,
    finished_at: time.nullable(),
    progress: z.int().nullable().describe('Per cent. Null: the provider does not say it.'),
    duration: z.number().nullable().describe('Seconds.'),
    size: text,
    total_cost: z.number().nullable().describe('USD. Null: not known yet, or the price is unknown.'),
    is_byok: z.boolean(),
    error: text,
    clips: z.array(
      z.strictObject({
        media_type: z.string(),
        size_bytes: z.int().nullable(),
        is_stored: z.boolean().describe('False: it is fetched from its provider whenever it is read.'),
      }),
    ),
    clips_until: time.nullable().describe('Until then the clips can be read.'),
    polls: z.int().describe('Looks at the job so far.'),
    next_poll_at: time.nullable().describe('Null: it is over.'),
    callback_tries: z.int(),
    callback_at: time.nullable().describe('When its end is reported next. Null: there is nothing to report.'),
  })
  .meta({ id: 'VideoJobListItem' });

const FACTS = { scope: 'any', role: 'member', tag: 'Videos' } as const;

export const listVideoJobs = defineRoute({
  ...FACTS,
  method: 'GET',
  path: '/videos/jobs',
  operationId: 'listVideoJobs',
  summary: 'List jobs over all workspaces, newest first, without their content; a normal key sees its own',
  params: NOTHING,
  query: z.strictObject({
    limit: z.coerce.number().pipe(z.int().min(1).max(LIMIT_MAX)).optional().describe(`Default: ${LIMIT_DEFAULT}.`),
    after: filterSchema.describe('Only jobs that are older than this one.'),
    status: videoStatus.optional(),
    model: filterSchema.describe('As the request named it.'),
    provider: filterSchema.describe('Its slug.'),
    key: filterSchema.describe('The hash of a key.'),
    workspace: filterSchema.describe('Its id.'),
  }),
  body: NO_BODY,
  responses: {
    200: { description: 'A page.', schema: z.strictObject({ data: z.array(listedSchema), has_more: z.boolean() }) },
  },
  errors: [400],
  users: 'narrowed',
  async handle({ query, services, ...context }) {
    const { limit = LIMIT_DEFAULT, after, status, model, provider, key, workspace } = query;
    const { jobs, hasMore } = await services.videos.search({
      ...sightOf(context),
      accountId: callerOf(context.principal).accountId,
      limit,
      afterId: after,
      status,
      model,
      provider,
      keyHash: key,
      workspaceId: workspace,
    });
    return { status: 200, body: { data: jobs.map(serializeListed), has_more: hasMore } };
  },
});

type Context = Pick<RouteContext<{ readonly job_id: string }, unknown, unknown>, 'principal' | 'params' | 'services'>;

/** @throws GatewayError 404 for what is not there, and for a normal key what another one began */
async function jobOf({ principal, params, services }: Context): Promise<ListedVideoJob> {
  const { kind, keyHash, accountId } = callerOf(principal);
  const only = kind === 'management' ? {} : { onlyKey: keyHash };
  const { jobs } = await services.videos.search({ ...only, accountId, limit: 1, id: params.job_id });
  const [job] = jobs;
  if (job === undefined) throw new GatewayError('not_found', 'There is no such job.');
  return job;
}

/** Its own, or of an admin those of the workspace. */
async function touched(context: Context): Promise<Touched> {
  const { workspaceId, memberId } = await jobOf(context);
  return { workspaceId, ownerId: memberId };
}

export const cancelVideoJob = defineRoute({
  ...FACTS,
  method: 'POST',
  path: '/videos/jobs/{job_id}/cancel',
  operationId: 'cancelVideoJob',
  summary: 'Cancel a job of any workspace that is not over, where its provider can',
  params: videoPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The cancelled job.', schema: z.strictObject({ data: listedSchema }) } },
  errors: [400, 404, 409],
  auditsManagers: true,
  users: touched,
  async handle(context) {
    const { services, params } = context;
    await services.videos.cancel(await jobOf(context), params.job_id);
    return { status: 200, body: { data: serializeListed(await jobOf(context)) } };
  },
});

export const deleteVideoJob = defineRoute({
  ...FACTS,
  method: 'DELETE',
  path: '/videos/jobs/{job_id}',
  operationId: 'deleteVideoJob',
  summary: 'Remove a job of any workspace that is over, with its clips',
  params: videoPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 204: { description: 'It is gone.', schema: NO_CONTENT } },
  errors: [400, 404, 409],
  auditsManagers: true,
  users: touched,
  async handle(context) {
    const { services, params } = context;
    await services.videos.remove(await jobOf(context), params.job_id);
    return { status: 204, body: '' };
  },
});

export const readVideoJobContent = defineRoute({
  ...FACTS,
  method: 'GET',
  path: '/videos/jobs/{job_id}/content',
  operationId: 'readVideoJobContent',
  summary: 'The bytes of a clip of any workspace; a session that reads it leaves an audit event',
  params: videoPathSchema,
  query: z.strictObject({ index: clipIndex }),
  body: NO_BODY,
  responses: { 200: { description: 'The clip.', schema: clipBytes, contentType: 'video/mp4' } },
  errors: [400, 404, 502],
  readsContentAs: 'readVideoContent',
  users: touched,
  async handle(context) {
    const { services, params, query } = context;
    const clip = await services.videos.content(await jobOf(context), params.job_id, { index: query.index ?? 0 });
    return {
      status: 200,
      body: clip.body,
      contentType: clip.mediaType,
      headers: clip.headers,
      subject: `/videos/jobs/${params.job_id}`,
    };
  },
});

function serializeListed(job: ListedVideoJob): z.output<typeof listedSchema> {
  const { costNanoUsd: cost, finishedAtMs, assetsUntilMs, callbackAtMs } = job;
  return {
    id: job.id,
    status: job.status,
    generation_id: job.generationId,
    workspace_id: job.workspaceId,
    api_key_hash: job.keyHash,
    api_key_name: job.keyName,
    model: job.model,
    provider: job.providerSlug,
    provider_name: job.provider,
    created_at: serializeTime(job.createdAtMs),
    finished_at: finishedAtMs === null ? null : serializeTime(finishedAtMs),
    progress: job.progress,
    duration: job.seconds,
    size: job.size,
    total_cost: cost === null ? null : usdFromNano(cost),
    is_byok: job.isByok,
    error: job.error,
    clips: job.assets.map(({ mediaType, bytes, fileId }) => ({
      media_type: mediaType,
      size_bytes: bytes ?? null,
      is_stored: fileId !== undefined,
    })),
    clips_until: assetsUntilMs === null ? null : serializeTime(assetsUntilMs),
    polls: job.polls,
    next_poll_at: isFinal(job) ? null : serializeTime(job.nextPollMs),
    callback_tries: job.callbackTries,
    callback_at: callbackAtMs === null ? null : serializeTime(callbackAtMs),
  };
}
