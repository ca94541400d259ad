import { z } from 'zod';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { videoJobSchema, videoPathSchema } from './video-shape.ts';

const deletedSchema = z.looseObject({ id: z.string(), deleted: z.literal(true) });

export const deleteVideo = defineRoute({
  method: 'DELETE',
  path: '/videos/{job_id}',
  scope: 'normal',
  role: 'member',
  operationId: 'deleteVideo',
  tag: 'Videos',
  summary: 'Cancel a job, or remove one that is over with its clips',
  params: videoPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'The cancelled job, or that it was removed.',
      schema: z.union([videoJobSchema, deletedSchema]),
    },
  },
  errors: [400, 404, 409],
  async handle({ params, principal, services }) {
    return { status: 200, body: await services.videos.delete(callerOf(principal), params.job_id) };
  },
});
