import { z } from 'zod';
import { findModel, modelPath } from '../models/get.ts';
import { architectureSchema, createdOf, serializeArchitecture, serializeModel } from '../models/model-shape.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeEndpoint, endpointSchema } from './endpoint-shape.ts';

export const listEndpoints = defineRoute({
  method: 'GET',
  path: '/models/{author}/{slug}/endpoints',
  scope: 'public',
  role: 'member',
  readsKey: true,
  hasTag: true,
  operationId: 'listEndpoints',
  tag: 'Endpoints',
  summary: 'List the endpoints of a model with price and health',
  params: modelPath,
  query: z.looseObject({}),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The model and its endpoints; speed with a key only.',
      schema: z.strictObject({
        data: z.strictObject({
          id: z.string(),
          name: z.string(),
          created: z.int(),
          description: z.string(),
          architecture: architectureSchema,
          endpoints: z.array(endpointSchema),
        }),
      }),
    },
  },
  errors: [404],
  handle({ principal, params, services: { listing } }) {
    const { model } = findModel(listing.catalog, params);
    const data = {
      id: model.slug,
      name: model.name,
      created: createdOf(model),
      description: serializeModel(model).description,
      architecture: serializeArchitecture(model),
      endpoints: model.endpoints.map((endpoint) =>
        serializeEndpoint(endpoint, model, listing.metricsOf(endpoint), principal !== undefined),
      ),
    };
    return { status: 200, body: { data } };
  },
});
