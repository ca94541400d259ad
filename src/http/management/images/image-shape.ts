import { z } from 'zod';
import type { ImageFacts } from '../../../canonical/image.ts';
import type { Endpoint, Model } from '../../../catalog/model.ts';
import type { PriceTable } from '../../../catalog/price.ts';
import { architectureSchema, createdOf, serializeArchitecture } from '../models/model-shape.ts';

const descriptor = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('enum'), values: z.array(z.string()) }),
    z.strictObject({ type: z.literal('range'), min: z.number(), max: z.number() }),
    z.strictObject({ type: z.literal('boolean') }),
  ])
  .meta({ id: 'CapabilityDescriptor' });

type Descriptor = z.output<typeof descriptor>;

/** `@openrouter/sdk` 1.3.19, `ImagePricingEntry` */
const priceLine = z
  .strictObject({
    billable: z.string(),
    unit: z.string(),
    cost_usd: z.number(),
    variant: z.string().optional().describe('`quality/size`, either of them `*`.'),
  })
  .meta({ id: 'ImagePricingEntry' });

/** `@openrouter/sdk` 1.3.19, `ImageModelListItem` */
export const imageModelSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    created: z.int(),
    architecture: architectureSchema,
    supported_parameters: z.record(z.string(), descriptor).describe('What is unknown is left out, and not refused.'),
    supports_streaming: z.boolean(),
    endpoints: z.string().describe('The path of its endpoints.'),
  })
  .meta({ id: 'ImageModelListItem' });

/** `@openrouter/sdk` 1.3.19, `ImageEndpoint` */
export const imageEndpointSchema = z
  .strictObject({
    provider_name: z.string(),
    provider_slug: z.string(),
    provider_tag: z.string(),
    supported_parameters: z.record(z.string(), descriptor),
    allowed_passthrough_parameters: z.array(z.string()),
    supports_streaming: z.boolean(),
    pricing: z.array(priceLine).nullable().describe('Null: unknown, which is not free.'),
  })
  .meta({ id: 'ImageEndpoint' });

/** Models that make pictures, those that write, too, among them. */
export function makesPictures({ outputModalities, endpoints }: Model): boolean {
  return (
    outputModalities?.includes('image') ?? endpoints.some(({ outputModalities: of }) => of?.includes('image') === true)
  );
}

export function serializeImageModel(model: Model): z.output<typeof imageModelSchema> {
  const { slug, name, description = '', endpoints } = model;
  const facts = endpoints.map(({ image = {} }) => image);
  return {
    id: slug,
    name,
    description,
    created: createdOf(model),
    architecture: serializeArchitecture(model),
    supported_parameters: unionOf(facts.map(descriptorsOf)),
    supports_streaming: facts.some(({ streaming }) => streaming === true),
    endpoints: `/images/models/${slug}/endpoints`,
  };
}

export function serializeImageEndpoint(endpoint: Endpoint): z.output<typeof imageEndpointSchema> {
  const { provider, providerName, tag, image = {}, price } = endpoint;
  return {
    provider_name: providerName,
    provider_slug: provider,
    provider_tag: tag ?? provider,
    supported_parameters: descriptorsOf(image),
    allowed_passthrough_parameters: [],
    supports_streaming: image.streaming === true,
    pricing: price === undefined ? null : linesOf(price),
  };
}

/** Every image has a count, and a tier where nothing else is known of it. */
function descriptorsOf(facts: ImageFacts): Readonly<Record<string, Descriptor>> {
  const { nMax, referencesMax } = facts;
  const lists = {
    size: facts.sizes,
    resolution: facts.resolutions,
    aspect_ratio: facts.aspectRatios,
    quality: facts.qualities,
    output_format: facts.outputFormats,
    background: facts.backgrounds,
  };
  return {
    ...(nMax !== undefined && { n: { type: 'range' as const, min: 1, max: nMax } }),
    ...Object.fromEntries(
      Object.entries(lists).flatMap(([name, values]) =>
        values === undefined ? [] : [[name, { type: 'enum' as const, values: [...values] }]],
      ),
    ),
    ...(referencesMax !== undefined && { input_references: { type: 'range' as const, min: 0, max: referencesMax } }),
    ...(facts.seed === true && { seed: { type: 'boolean' as const } }),
  };
}

/** Values united, ranges widened. */
function unionOf(all: readonly Readonly<Record<string, Descriptor>>[]): Record<string, Descriptor> {
  const union: Record<string, Descriptor> = {};
  for (const [name, one] of all.flatMap((descriptors) => Object.entries(descriptors))) {
    const before = union[name];
    if (before?.type === 'enum' && one.type === 'enum')
      union[name] = { type: 'enum', values: [...new Set([...before.values, ...one.values])] };
    else if (before?.type === 'range' && one.type === 'range')
      union[name] = { type: 'range', min: Math.min(before.min, one.min), max: Math.max(before.max, one.max) };
    else union[name] = one;
  }
  return union;
}

const PICO_PER_USD = 1e12;

/** The lines of the price, and for what is paid by tokens a line each. USD a unit. */
function linesOf(price: PriceTable): z.output<typeof priceLine>[] {
  const { images } = price;
  if (images !== undefined)
    return images.map(({ billable, unit, price: pico, variant }) => ({
      billable,
      unit,
      cost_usd: pico / PICO_PER_USD,
      ...(variant !== undefined && { variant }),
    }));
  const { prompt, completion, imageToken = prompt, imageOutput = completion } = price;
  const lines = { input_text: prompt, input_image: imageToken, output_image: imageOutput };
  return Object.entries(lines).map(([billable, pico]) => ({ billable, unit: 'token', cost_usd: pico / PICO_PER_USD }));
}
