import { z } from 'zod';
import { callerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { includes, includeShape, responsePathSchema } from './response-path.ts';

const PAGE_ITEMS = 20;
const PAGE_ITEMS_MAX = 100;

export const listInputItems = defineRoute({
  method: 'GET',
  path: '/responses/{response_id}/input_items',
  scope: 'normal',
  role: 'member',
  operationId: 'listInputItems',
  tag: 'Responses',
  summary: 'The input of a kept response, with everything that it continues',
  params: responsePathSchema,
  query: z.strictObject({
    ...includeShape,
    limit: z.coerce.number().int().min(1).max(PAGE_ITEMS_MAX).optional().describe('Items on the page. Default 20.'),
    order: z.enum(['asc', 'desc']).optional().describe('Default `desc`: the newest first.'),
    after: z.string().optional().describe('The id of the last item of the page before.'),
  }),
  body: NO_BODY,
  namesBareParameters: true,
  readsContentAs: 'readResponseInput',
  responses: {
    200: {
      description: 'A page of items.',
      schema: z
        .strictObject({
          object: z.literal('list'),
          data: z.array(z.looseObject({ type: z.string() })),
          first_id: z.string().nullable(),
          last_id: z.string().nullable(),
          has_more: z.boolean(),
        })
        .meta({ id: 'ResponseItemList' }),
    },
  },
  errors: [400, 404],
  async handle({ params, query, principal, services }) {
    const page = await services.storedResponses.listInput(callerOf(principal), params.response_id, {
      limit: query.limit ?? PAGE_ITEMS,
      order: query.order ?? 'desc',
      after: query.after,
      showsImages: includes(query, 'message.input_image.image_url'),
    });
    return { status: 200, body: page, subject: `/responses/${params.response_id}` };
  },
});
