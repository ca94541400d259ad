import { z } from 'zod';
import { IMAGE_BACKGROUNDS, IMAGE_OUTPUT_FORMATS, IMAGE_QUALITIES, IMAGE_TIERS } from '../../canonical/image.ts';
import { GATEWAY_FIELDS, gatewayShape, modelSlug } from '../gateway/directives.ts';
import { metadata } from '../gateway/metadata.ts';
import { providerWithOptions } from '../provider-options.ts';
import type { FormFieldTypes } from '../gateway/validation/form-fields.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';

const PROMPT_CHARS_MAX = 32_000;
const N_MAX = 10;
export const REFERENCES_MAX = 16;
const USER_CHARS_MAX = 256;
const SIZE_CHARS_MAX = 16;
const SEED_MAX = 4_294_967_295;
const PARTIAL_IMAGES_MAX = 3;
const RATIO = /^(?:auto|\d{1,2}(?:\.\d)?:\d{1,2}(?:\.\d)?)$/;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
const address = z.looseObject({ url: z.string().min(1) });
/** A picture as the vendor's clients name it in JSON: an address, or an object with one. */
const named = z.union([
  z.string().min(1),
  z.looseObject({
    url: z.string().nullish(),
    image_url: z.union([z.string(), address]).nullish(),
    file_id: z.string().nullish(),
  }),
]);

/** The bodies of all routes that make pictures. Null is the same as absent. */
export const imageSchema = z.looseObject({
  model: modelSlug.nullish(),
  prompt: z.string().min(1).max(PROMPT_CHARS_MAX),
  n: z.int().min(1).max(N_MAX).nullish(),
  size: z.string().max(SIZE_CHARS_MAX).nullish(),
  resolution: z.enum(IMAGE_TIERS).nullish(),
  aspect_ratio: z.string().regex(RATIO, 'must be a ratio such as "16:9", or "auto"').nullish(),
  quality: z.enum([...IMAGE_QUALITIES, 'standard', 'hd']).nullish(),
  output_format: z.enum(IMAGE_OUTPUT_FORMATS).nullish(),
  output_compression: z.int().min(0).max(100).nullish(),
  background: z.enum(IMAGE_BACKGROUNDS).nullish(),
  input_references: z
    .array(
      z.looseObject({
        type: z.literal('image_url'),
        image_url: z.looseObject({ url: z.string().nullish(), file_id: z.string().nullish() }),
      }),
    )
    .max(REFERENCES_MAX)
    .nullish(),
  seed: z.int().min(0).max(SEED_MAX).nullish(),
  stream: z.boolean().nullish(),
  partial_images: z.int().min(0).max(PARTIAL_IMAGES_MAX).nullish(),
  // Of the vendor's clients.
  image: z.union([named, z.array(named).max(REFERENCES_MAX)]).nullish(),
  images: z.array(named).max(REFERENCES_MAX).nullish(),
  mask: named.nullish(),
  response_format: z.enum(['b64_json', 'url']).nullish(),
  style: z.string().nullish(),
  moderation: z.enum(['low', 'auto']).nullish(),
  safety_identifier: z.string().max(USER_CHARS_MAX).nullish(),
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});

export type ParsedImage = z.output<typeof imageSchema>;
export type NamedPicture = z.output<typeof named>;

export const KNOWN_IMAGE_MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(imageSchema.shape),
  ...GATEWAY_FIELDS,
  'markup',
]);

/** What the fields of a form stand for. */
export const IMAGE_FIELDS: FormFieldTypes = {
  n: 'number',
  output_compression: 'number',
  seed: 'number',
  partial_images: 'number',
  stream: 'boolean',
  frame_count: 'number',
  frame_duration_ms: 'number',
  svg: 'json',
  provider: 'json',
  trace: 'json',
  metadata: 'json',
};

compileSoon(imageSchema);
