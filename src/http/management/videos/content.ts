import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { clipBytes, clipIndex, videoPathSchema } from './video-shape.ts';

export const getVideoContent = defineRoute({
  method: 'GET',
  path: '/videos/{job_id}/content',
  scope: 'normal',
  role: 'member',
  operationId: 'getVideoContent',
  tag: 'Videos',
  summary: 'The bytes of a clip; `Range` gives a part',
  params: videoPathSchema,
  query: z.strictObject({
    index: clipIndex,
    variant: z.string().max(64).optional().describe('`video` alone: there are no thumbnails.'),
  }),
  body: NO_BODY,
  namesBareParameters: true,
  responses: {
    200: { description: 'The clip.', schema: clipBytes, contentType: 'video/mp4' },
    206: { description: 'The part of it that `Range` names.', schema: clipBytes, contentType: 'video/mp4' },
  },
  errors: [400, 404, 502],
  async handle({ params, query, principal, headers, services }) {
    if (query.variant !== undefined && query.variant !== 'video')
      throw new GatewayError('not_found', 'variant: there is none but "video".');
    const { range } = headers;
    const clip = await services.videos.content(callerOf(principal), params.job_id, {
      index: query.index ?? 0,
      ...(range !== undefined && { range }),
    });
    return { status: clip.status, body: clip.body, contentType: clip.mediaType, headers: clip.headers };
  },
});
