import { z } from 'zod';
import { keepsNothing } from '../../../catalog/data-policy.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeEndpoint, endpointSchema } from './endpoint-shape.ts';

export const listZdrEndpoints = defineRoute({
  method: 'GET',
  path: '/endpoints/zdr',
  scope: 'public',
  role: 'member',
  readsKey: true,
  hasTag: true,
  operationId: 'listEndpointsZdr',
  tag: 'Endpoints',
  summary: 'Every endpoint that a request with `zdr` may reach',
  params: z.strictObject({}),
  query: z.looseObject({}),
  body: NO_BODY,
  responses: { 200: { description: 'The endpoints.', schema: z.strictObject({ data: z.array(endpointSchema) }) } },
  errors: [],
  handle({ principal, services: { listing } }) {
    const data = listing.catalog
      .list()
      .flatMap((model) =>
        model.endpoints
          .filter(keepsNothing)
          .map((endpoint) => serializeEndpoint(endpoint, model, listing.metricsOf(endpoint), principal !== undefined)),
      );
    return { status: 200, body: { data } };
  },
});
