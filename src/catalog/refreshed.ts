import { z } from 'zod';
import { PRICE_USD_MAX, TOKENS_MAX, type PriceEntry } from './data-schema.ts';

/*
 * A public list's facts about models at providers, as stored between starts. The project has not reviewed them, so they
 * only fill in missing facts, and add unknown models.
 */

const NAME_CHARS_MAX = 200;
/** Of all providers together; the public list has some 900 of those that are read. */
const ENDPOINTS_MAX = 20_000;

const name = z.string().min(1).max(NAME_CHARS_MAX);
const tokens = z.int().min(1).max(TOKENS_MAX).optional();
const usd = z.number().min(0).max(PRICE_USD_MAX);
const date = z
  .string()
  .regex(/^20\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?$/)
  .optional();

const rates = {
  cache_read: usd.optional(),
  cache_write: usd.optional(),
  reasoning: usd.optional(),
  audio: usd.optional(),
  audio_output: usd.optional(),
};

/** USD per million tokens. */
export const refreshedPrice = z.strictObject({
  ...rates,
  prompt: usd,
  completion: usd,
  overrides: z
    .array(z.strictObject({ ...rates, prompt: usd, completion: usd, min_prompt_tokens: z.int().min(1) }))
    .max(10)
    .optional(),
});

export const refreshedEndpoint = z.strictObject({
  /** Our slug. */
  provider: name,
  /** The upstream's own name. */
  model: name.regex(/^\S+$/),
  name,
  released: date,
  knowledge_cutoff: date,
  input_modalities: z.array(z.enum(['text', 'image', 'file', 'audio', 'video'])).min(1),
  output_modalities: z.array(z.enum(['text', 'image', 'audio', 'video'])).min(1),
  context_length: tokens,
  max_completion_tokens: tokens,
  price: refreshedPrice.optional(),
});

/** Why a price of the list was not taken. */
export const PRICE_FAULTS = ['no price', 'free', 'dearer to read than to write', 'moved too far'] as const;

export const refreshedCatalog = z.strictObject({
  version: z.literal(1),
  /** Where it was read. */
  source: z.url(),
  /** When, ISO 8601. */
  fetched: z.iso.datetime(),
  endpoints: z.array(refreshedEndpoint).max(ENDPOINTS_MAX),
  /** Prices that were left out. */
  refused: z.array(z.strictObject({ provider: name, model: name, fault: z.enum(PRICE_FAULTS) })).max(ENDPOINTS_MAX),
});

export type RefreshedPrice = z.output<typeof refreshedPrice>;
export type RefreshedEndpoint = z.output<typeof refreshedEndpoint>;
export type RefreshedCatalog = z.output<typeof refreshedCatalog>;
export type PriceFault = (typeof PRICE_FAULTS)[number];

/** A price of the list in the words of the project's files. */
export function priceEntryOf({ overrides, ...price }: RefreshedPrice, source: string): PriceEntry {
  return { ...price, ...(overrides !== undefined && { overrides }), source };
}
