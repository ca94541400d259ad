import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { videoJobSchema, videoPathSchema } from './video-shape.ts';

export const getVideo = defineRoute({
  method: 'GET',
  path: '/videos/{job_id}',
  scope: 'normal',
  role: 'member',
  operationId: 'getVideo',
  tag: 'Videos',
  summary: 'How a job stands',
  params: videoPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The job.', schema: videoJobSchema } },
  errors: [400, 404],
  async handle({ params, principal, services }) {
    const { job, retryAfterS } = await services.videos.get(callerOf(principal), params.job_id);
    return {
      status: 200,
      body: job,
      ...(retryAfterS !== undefined && { headers: { 'retry-after': String(retryAfterS) } }),
    };
  },
});
