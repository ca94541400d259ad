import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING, type RouteAnswer } from '../route.ts';
import { imageModelSchema, makesPictures, serializeImageModel } from './image-shape.ts';

const PAGE_MAX = 1_000;
const page = z.coerce.number().pipe(z.int().min(0)).optional();

export const listImageModels = defineRoute({
  method: 'GET',
  path: '/images/models',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'listImageModels',
  tag: 'Images',
  summary: 'The models that make pictures',
  params: NOTHING,
  query: z.strictObject({ offset: page, limit: page }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The models.',
      schema: z.strictObject({ data: z.array(imageModelSchema) }).meta({ id: 'ImageModelsListResponse' }),
    },
  },
  errors: [400],
  handle({ query: { offset = 0, limit = PAGE_MAX }, services: { listing } }): RouteAnswer {
    const models = listing.catalog.list().filter(makesPictures);
    return {
      status: 200,
      body: { data: models.slice(offset, offset + Math.min(limit, PAGE_MAX)).map(serializeImageModel) },
    };
  },
});
