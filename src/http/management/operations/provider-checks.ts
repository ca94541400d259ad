import { z } from 'zod';
import { byokKeyResource } from '../../../resources/byok-keys.ts';
import { byokPathSchema, credentialSchema } from '../byok/byok-shape.ts';
import { defineRoute, NO_BODY, NOTHING, type ManagementRoute, type RouteContext } from '../route.ts';
import type { ProviderCheck } from './services.ts';

const text = z.string().nullable();

const providerStatusSchema = z
  .strictObject({
    slug: z.string(),
    name: z.string(),
    on: z.boolean(),
    credential: text.describe('Where its credential comes from: a variable, or a member of the configuration.'),
    hint: text.describe('What turns it on. Null: it is on.'),
    has_byok_credentials: z.boolean(),
    formats: z.array(z.string()).describe('In which it is called, the most native first.'),
    models: z.int().describe('Of this provider that requests can name.'),
  })
  .meta({ id: 'ProviderStatus' });

const providerCheckSchema = z
  .strictObject({
    verdict: z.enum(['ok', 'warning', 'failed']),
    message: z.string().describe('What was found and what to do, as `model-gateway doctor` says it.'),
  })
  .meta({ id: 'ProviderCheck' });

export const listProviderStatuses = defineRoute({
  method: 'GET',
  path: '/providers/status',
  scope: 'management',
  operationId: 'listProviderStatuses',
  tag: 'Providers',
  summary: 'List which providers are on, and what turns the others on',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: { description: 'Known ones, too.', schema: z.strictObject({ data: z.array(providerStatusSchema) }) },
  },
  errors: [],
  handle({ services }) {
    const data = services.operations.providers
      .list()
      .map(({ slug, name, isOn, credential, hint, hasByokCredentials, formats, models }) => ({
        slug,
        name,
        on: isOn,
        credential,
        hint,
        has_byok_credentials: hasByokCredentials,
        formats: [...formats],
        models,
      }));
    return { status: 200, body: { data } };
  },
});

export const checkProviderOfGateway = defineCheck({
  path: '/providers/{slug}/test',
  operationId: 'testProvider',
  tag: 'Providers',
  summary: "Call a provider with the gateway's own credential, without spending tokens",
  params: z.strictObject({ slug: z.string() }),
  body: NO_BODY,
  errors: [404, 429],
  check: ({ params, services }) => services.operations.providers.check(params.slug),
});

export const checkStoredByokKey = defineCheck({
  path: '/byok/{id}/test',
  operationId: 'testByokKey',
  tag: 'BYOK',
  summary: 'Call a provider with a stored credential, without spending tokens',
  params: byokPathSchema,
  body: NO_BODY,
  errors: [404, 429],
  check: ({ params, services }) => services.operations.providers.checkStored(params.id),
});

export const checkNewByokKey = defineCheck({
  path: '/byok/test',
  operationId: 'testNewByokKey',
  tag: 'BYOK',
  summary: 'Call a provider with a credential before it is stored, without spending tokens',
  params: NOTHING,
  body: z
    .strictObject({ provider: byokKeyResource.createShape.provider, key: credentialSchema })
    .meta({ id: 'TestByokKeyRequest' }),
  errors: [400, 413, 429],
  check: ({ body, services }) => services.operations.providers.checkNew(body.provider, body.key),
});

/** A route that makes one free call to a provider. What the provider refuses is an answer, not an error. */
function defineCheck<Params extends z.ZodType, Body extends z.ZodType>({
  check,
  ...facts
}: Pick<ManagementRoute, 'path' | 'operationId' | 'tag' | 'summary' | 'errors'> & {
  readonly params: Params;
  readonly body: Body;
  /** @throws GatewayError */
  readonly check: (
    context: RouteContext<z.output<Params>, Record<string, never>, z.output<Body>>,
  ) => Promise<ProviderCheck>;
}): ManagementRoute {
  return defineRoute({
    ...facts,
    method: 'POST',
    scope: 'management',
    onlyReads: true,
    query: NOTHING,
    responses: { 200: { description: 'What was found.', schema: z.strictObject({ data: providerCheckSchema }) } },
    async handle(context) {
      return { status: 200, body: { data: await check(context) } };
    },
  });
}
