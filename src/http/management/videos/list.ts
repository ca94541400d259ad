import { z } from 'zod';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { videoListSchema, videoStatus } from './video-shape.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

export const listVideos = defineRoute({
  method: 'GET',
  path: '/videos',
  scope: 'normal',
  role: 'member',
  operationId: 'listVideos',
  tag: 'Videos',
  summary: 'The jobs of the workspace, the newest first',
  params: NOTHING,
  query: z.strictObject({
    limit: z.coerce.number().pipe(z.int().min(1).max(LIMIT_MAX)).optional().describe(`Default: ${LIMIT_DEFAULT}.`),
    after: z.string().max(200).optional().describe('Only jobs that are older than this one.'),
    status: videoStatus.optional(),
    order: z.enum(['desc']).optional().describe('The newest first, and no other order.'),
  }),
  body: NO_BODY,
  namesBareParameters: true,
  responses: { 200: { description: 'A page of jobs.', schema: videoListSchema } },
  errors: [400],
  async handle({ query: { limit = LIMIT_DEFAULT, after, status }, principal, services }) {
    return { status: 200, body: await services.videos.list(callerOf(principal), { limit, after, status }) };
  },
});
