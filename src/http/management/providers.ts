import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from './route.ts';

const address = z.string().nullable();

/** @spec catalog-16 */
const providerSchema = z
  .strictObject({
    name: z.string(),
    slug: z.string(),
    privacy_policy_url: address,
    terms_of_service_url: address,
    status_page_url: address,
    headquarters: z.string().nullable(),
    datacenters: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Provider' });

export const listProviders = defineRoute({
  method: 'GET',
  path: '/providers',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'listProviders',
  tag: 'Providers',
  summary: 'List the providers that are set up here',
  params: NOTHING,
  query: z.looseObject({}),
  body: NO_BODY,
  responses: { 200: { description: 'The providers.', schema: z.strictObject({ data: z.array(providerSchema) }) } },
  errors: [],
  handle({ services: { listing } }) {
    const data = listing.providers().map((provider) => ({
      name: provider.name,
      slug: provider.slug,
      privacy_policy_url: provider.privacyPolicyUrl,
      terms_of_service_url: provider.termsOfServiceUrl,
      status_page_url: provider.statusPageUrl,
      headquarters: provider.headquarters,
      datacenters: provider.datacenters && [...provider.datacenters],
    }));
    return { status: 200, body: { data } };
  },
});
