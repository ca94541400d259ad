import { z } from 'zod';

/** Longer than any id that the gateway makes. */
const ID_CHARS_MAX = 256;

export const responsePathSchema = z.strictObject({
  response_id: z.string().min(1).max(ID_CHARS_MAX).describe('The `id` of the response.'),
});

/** As the response was given, with `output_text`. */
export const responseSchema = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    output: z.array(z.looseObject({ type: z.string() })),
    output_text: z.string(),
  })
  .meta({ id: 'StoredResponse' });

const include = z.union([z.string(), z.array(z.string())]).optional();

/** Clients write the list with or without brackets. */
export const includeShape = {
  include: include.describe('Parts that are left out otherwise: `message.input_image.image_url`.'),
  'include[]': include.describe('The same.'),
};

/** Whether the query includes a part that is left out otherwise. */
export function includes(
  query: { readonly include?: string | string[] | undefined; readonly 'include[]'?: string | string[] | undefined },
  part: string,
): boolean {
  return [query.include, query['include[]']].flat().includes(part);
}
