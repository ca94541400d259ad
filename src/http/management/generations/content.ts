import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { generationIdOf } from '../../../wire/responses/response/response-out.ts';
import { isInSight } from './sight.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';

const text = z.string().nullable();

const errorSchema = z
  .looseObject({
    status: z.int().nullable(),
    message: text,
    provider_name: text,
    raw: text.describe("The upstream's own words."),
    previous_errors: z.array(z.looseObject({ code: z.int(), message: z.string(), provider_name: text, raw: text })),
  })
  .nullable();

/**
 * Stored content stays readable, whatever later versions write. @source `@openrouter/sdk` 1.3.19,
 * `GenerationContentData`
 */
const contentSchema = z
  .looseObject({
    input: z.looseObject({ messages: z.array(z.unknown()).describe('Media are left out.') }),
    output: z.looseObject({
      completion: text,
      reasoning: text,
      tool_calls: z.array(z.unknown()).optional(),
    }),
    error: errorSchema,
    privacy: z
      .looseObject({ zdr: z.boolean(), data_collection: z.enum(['allow', 'deny']) })
      .optional()
      .describe('What the request demanded of endpoints.'),
    is_cut: z.literal(true).optional().describe('Some texts were longer than what is kept.'),
  })
  .meta({ id: 'GenerationContent' });

export const getGenerationContent = defineRoute({
  method: 'GET',
  path: '/generation/content',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  readsContentAs: 'readGenerationContent',
  operationId: 'listGenerationContent',
  tag: 'Generations',
  summary: 'The content of one generation, where its workspace keeps it; a normal key sees its own generations',
  params: NOTHING,
  query: z.strictObject({ id: z.string().min(1).max(256).describe('The `id` of the response.') }),
  body: NO_BODY,
  responses: { 200: { description: 'Prompt and response.', schema: z.strictObject({ data: contentSchema }) } },
  errors: [400, 403, 404],
  users: 'narrowed',
  async handle({ query, principal, viewer, services }) {
    const id = generationIdOf(query.id) ?? query.id;
    const record = await services.generations.find(id);
    if (record === undefined || !isInSight(viewer, record))
      throw new GatewayError('not_found', 'There is no such generation.');
    if (principal?.kind !== 'management' && principal?.keyHash !== record.keyHash)
      throw new GatewayError('permission_denied', 'Only its own key and management keys see its content.');
    const content = await services.content.find(record.id);
    if (content === undefined) throw new GatewayError('not_found', 'Its content was not kept.');
    return { status: 200, body: { data: contentSchema.parse(content) }, subject: `/generations/${id}` };
  },
});
