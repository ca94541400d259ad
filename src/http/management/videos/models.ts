import { z } from 'zod';
import type { VideoFacts } from '../../../canonical/video.ts';
import type { Endpoint, Model } from '../../../catalog/model.ts';
import { decimalUsd } from '../../../catalog/price.ts';
import { defineRoute, NO_BODY, NOTHING, type RouteAnswer } from '../route.ts';

const PAGE_MAX = 1_000;
const words = z.array(z.string()).nullable();

/** `@openrouter/sdk` 1.3.19, `VideoModel`. Null: unknown. */
const videoModelSchema = z
  .strictObject({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    description: z.string().optional(),
    created: z.int(),
    hugging_face_id: z.string().nullable(),
    supported_resolutions: words,
    supported_aspect_ratios: words,
    supported_sizes: words,
    supported_durations: z.array(z.int()).nullable(),
    supported_frame_images: words,
    generate_audio: z.boolean().nullable(),
    seed: z.boolean().nullable(),
    creativity: z.array(z.int()).nullable(),
    upscale_factor: z.null().describe('The factors of an upscaler are not known here.'),
    allowed_passthrough_parameters: z.array(z.string()),
    pricing_skus: z.record(z.string(), z.string()).nullable().describe('USD a second.'),
  })
  .meta({ id: 'VideoModel' });

const page = z.coerce.number().pipe(z.int().min(0)).optional();

export const listVideoModels = defineRoute({
  method: 'GET',
  path: '/videos/models',
  scope: 'public',
  role: 'member',
  hasTag: true,
  operationId: 'listVideoModels',
  tag: 'Videos',
  summary: 'The models that make clips',
  params: NOTHING,
  query: z.strictObject({ offset: page, limit: page }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The models.',
      schema: z.strictObject({ data: z.array(videoModelSchema) }).meta({ id: 'VideoModelsListResponse' }),
    },
  },
  errors: [400],
  handle({ query: { offset = 0, limit = PAGE_MAX }, services: { listing } }): RouteAnswer {
    const models = listing.catalog.list().filter(makesClips);
    return {
      status: 200,
      body: { data: models.slice(offset, offset + Math.min(limit, PAGE_MAX)).map(serializeVideoModel) },
    };
  },
});

function makesClips({ outputModalities, endpoints }: Model): boolean {
  return (
    outputModalities?.includes('video') ?? endpoints.some(({ outputModalities: of }) => of?.includes('video') === true)
  );
}

const MS_PER_S = 1_000;

function serializeVideoModel(model: Model): z.output<typeof videoModelSchema> {
  const { slug, name, canonicalSlug, description, released, huggingFaceId, endpoints } = model;
  const [first] = endpoints;
  const facts: VideoFacts = first?.video ?? {};
  return {
    id: slug,
    canonical_slug: canonicalSlug ?? slug,
    name,
    ...(description !== undefined && { description }),
    created: released === undefined ? 0 : Math.floor(Date.parse(released) / MS_PER_S),
    hugging_face_id: huggingFaceId ?? null,
    supported_resolutions: listOf(facts.resolutions),
    supported_aspect_ratios: listOf(facts.aspectRatios),
    supported_sizes: listOf(facts.sizes),
    supported_durations: facts.durations === undefined ? null : [...facts.durations],
    supported_frame_images: listOf(facts.frames),
    generate_audio: facts.generateAudio ?? null,
    seed: facts.seed ?? null,
    creativity: facts.creativity === undefined ? null : [...facts.creativity],
    upscale_factor: null,
    allowed_passthrough_parameters: [],
    pricing_skus: skusOf(first),
  };
}

function listOf(values: readonly string[] | undefined): string[] | null {
  return values === undefined ? null : [...values];
}

function skusOf(endpoint: Endpoint | undefined): Record<string, string> | null {
  const price = endpoint?.price;
  if (price === undefined) return null;
  if (price.video === undefined) return price.videoRequest === undefined ? {} : null;
  return Object.fromEntries(Object.entries(price.video).map(([sku, pico]) => [sku, decimalUsd(pico)]));
}
