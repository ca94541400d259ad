import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { defineRoute, NO_BODY, NOTHING, type ListedFact } from '../route.ts';
import { findModel, modelPath } from './get.ts';

const factSchema = z
  .strictObject({
    member: z.string(),
    value: z.json(),
    layer: z
      .enum(['library', 'list', 'project', 'configuration'])
      .describe('Lowest first: a library of prices, the public list, files of the project, the configuration.'),
    source: z.string(),
    date: z.string().nullable().describe("When the source said so. Null: it is the operator's word."),
  })
  .meta({ id: 'ModelFact' });

const sourcesSchema = z
  .strictObject({
    slug: z.string(),
    unreviewed: z.boolean().describe('No person of the project has reviewed its facts.'),
    facts: z.array(factSchema),
    endpoints: z.array(
      z.strictObject({
        provider: z.string(),
        model: z.string().describe("The provider's own name."),
        usable: z.boolean().describe('The provider is set up and has credentials.'),
        facts: z.array(factSchema),
      }),
    ),
  })
  .meta({ id: 'ModelSources' });

export const getModelSources = defineRoute({
  method: 'GET',
  path: '/model/{author}/{slug}/sources',
  scope: 'any',
  role: 'member',
  operationId: 'getModelSources',
  tag: 'Models',
  summary: 'Every fact about a model, with the source that has the last word on it',
  params: modelPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: { description: 'As `model-gateway catalog show`.', schema: z.strictObject({ data: sourcesSchema }) },
  },
  errors: [404],
  async handle({ params, services: { listing } }) {
    const { model } = findModel(listing.catalog, params);
    const found = await listing.sourcesOf(model.slug);
    if (found === undefined) throw new GatewayError('not_found', `No source says anything of ${model.slug}.`);
    const data = {
      slug: found.slug,
      unreviewed: found.unreviewed,
      facts: found.figures.map(serializeFact),
      endpoints: found.endpoints.map(({ figures, ...endpoint }) => ({
        ...endpoint,
        facts: figures.map(serializeFact),
      })),
    };
    return { status: 200, body: { data } };
  },
});

function serializeFact({ member, value, layer, source, date }: ListedFact): z.output<typeof factSchema> {
  return { member, value: z.json().parse(value), layer, source, date: date ?? null };
}
