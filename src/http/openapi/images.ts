import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { SchemaComponents } from './components.ts';
import { jsonContent } from './content.ts';
import { serializeErrors } from './errors.ts';

const STATUSES = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529];
const EVENTS: JsonObject = { type: 'string' };

const cost = { cost: z.number().nullable(), is_byok: z.boolean() };
const answer = z.looseObject({
  created: z.int(),
  data: z.array(z.looseObject({ b64_json: z.string(), media_type: z.string(), revised_prompt: z.string().optional() })),
  usage: z.looseObject({
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    total_tokens: z.int(),
    ...cost,
  }),
  id: z.string(),
  model: z.string(),
  provider: z.string(),
});
const vendorAnswer = z.looseObject({
  created: z.int(),
  data: z.array(
    z.looseObject({
      b64_json: z.string().optional(),
      url: z.string().optional(),
      revised_prompt: z.string().optional(),
    }),
  ),
  output_format: z.string().optional(),
  size: z.string().optional(),
  quality: z.string().optional(),
  background: z.string().optional(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int(), ...cost }),
});
const file = z.string().meta({ format: 'binary' });

/** The paths of pictures. */
export function serializeImages(
  components: SchemaComponents,
  request: z.ZodObject<z.ZodRawShape>,
  error: JsonObject,
): Readonly<Record<string, { readonly post: JsonObject }>> {
  const errors = serializeErrors(STATUSES, error);
  const json = jsonContent(components.add('ImageGenerationRequest', request, 'input'));
  const form = request.extend({ image: z.array(file), mask: file.optional() });
  const formContent = { 'multipart/form-data': { schema: components.add('ImageEditForm', form, 'input') } };
  const describe = (
    operationId: string,
    summary: string,
    content: JsonObject,
    schema: JsonObject,
  ): { readonly post: JsonObject } => ({
    post: {
      operationId,
      tags: ['Images'],
      summary,
      security: [{ apiKey: [] }],
      requestBody: { required: true, content },
      responses: {
        200: {
          description: 'The pictures, or with `stream` events: previews, and at last each picture.',
          content: { ...jsonContent(schema), 'text/event-stream': { schema: EVENTS } },
        },
        ...errors,
      },
    },
  });
  const own = components.add('ImageGenerationResponse', answer, 'output');
  const vendor = components.add('ImagesResponse', vendorAnswer, 'output');
  return {
    '/images': describe('createImages', 'Make pictures', json, own),
    '/images/generations': describe('generateImages', 'Make pictures, in the form of OpenAI', json, vendor),
    '/images/edits': describe(
      'editImages',
      'Make pictures from pictures, in the form of OpenAI',
      { ...json, ...formContent },
      vendor,
    ),
  };
}
