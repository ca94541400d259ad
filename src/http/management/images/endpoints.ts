import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { findModel, modelPath } from '../models/get.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { imageEndpointSchema, makesPictures, serializeImageEndpoint } from './image-shape.ts';

export const listImageEndpoints = defineRoute({
  method: 'GET',
  path: '/images/models/{author}/{slug}/endpoints',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'listImageEndpoints',
  tag: 'Images',
  summary: 'The endpoints of a model that makes pictures, with their prices',
  params: modelPath,
  query: z.looseObject({}),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The endpoints.',
      schema: z
        .strictObject({ id: z.string(), endpoints: z.array(imageEndpointSchema) })
        .meta({ id: 'ImageModelEndpointsResponse' }),
    },
  },
  errors: [404],
  handle({ params, services: { listing } }) {
    const { model } = findModel(listing.catalog, params);
    if (!makesPictures(model)) throw new GatewayError('not_found', `${model.slug} makes no pictures.`);
    return { status: 200, body: { id: model.slug, endpoints: model.endpoints.map(serializeImageEndpoint) } };
  },
});
