import { z } from 'zod';
import { decimalUsd, type PriceOverride, type PriceRates, type PriceTable } from '../../../catalog/price.ts';

const usd = z.string().describe('USD a unit, a decimal.');

const rates = {
  prompt: usd.describe('USD a token. "-1": unknown, which is not free.'),
  completion: usd.describe('USD a token. "-1": unknown, which is not free.'),
  request: usd.optional(),
  image: usd.optional(),
  image_output: usd.optional(),
  audio: usd.optional(),
  audio_output: usd.optional(),
  input_cache_read: usd.optional(),
  input_cache_write: usd.optional(),
  input_cache_write_1h: usd.optional(),
  internal_reasoning: usd.optional(),
  web_search: usd.optional(),
  image_token: usd.optional(),
  search_unit: usd.optional(),
  input_character: usd.optional(),
  input_second: usd.optional(),
  output_second: usd.optional(),
};

/** @spec catalog-7; `@openrouter/sdk` 1.3.19, `PublicPricing` */
export const pricingSchema = z
  .strictObject({
    ...rates,
    overrides: z
      .array(
        z.strictObject({
          ...z.strictObject(rates).partial().shape,
          min_prompt_tokens: z.number().optional().describe('Holds for prompts of more tokens.'),
          utc_start: z.number().optional().describe('HHMM.'),
          utc_end: z.number().optional().describe('HHMM, not included.'),
        }),
      )
      .optional(),
  })
  .meta({ id: 'PublicPricing' });

type Pricing = z.output<typeof pricingSchema>;

/** The reference's names of our rates. */
const RATE_NAMES = [
  ['prompt', 'prompt'],
  ['completion', 'completion'],
  ['request', 'request'],
  ['image', 'image'],
  ['imageOutput', 'image_output'],
  ['audio', 'audio'],
  ['audioOutput', 'audio_output'],
  ['cacheRead', 'input_cache_read'],
  ['cacheWrite', 'input_cache_write'],
  ['cacheWrite1h', 'input_cache_write_1h'],
  ['reasoning', 'internal_reasoning'],
  ['webSearch', 'web_search'],
  ['imageToken', 'image_token'],
  ['searchUnit', 'search_unit'],
  ['character', 'input_character'],
  ['second', 'input_second'],
  ['outputSecond', 'output_second'],
] as const satisfies readonly (readonly [keyof PriceRates, keyof typeof rates])[];

/** How the reference writes a price that depends on something else; here it is an unknown price. */
const UNKNOWN = '-1';

/** Serializes the table that bills, as decimal strings. */
export function serializePricing(price: PriceTable | undefined): Pricing {
  if (price === undefined) return { prompt: UNKNOWN, completion: UNKNOWN };
  const { overrides } = price;
  return {
    ...serializeRates(price),
    prompt: decimalUsd(price.prompt),
    completion: decimalUsd(price.completion),
    ...(overrides !== undefined && { overrides: overrides.map(serializeOverride) }),
  };
}

function serializeOverride({ minPromptTokens, utcStart, utcEnd, rates: changed }: PriceOverride) {
  return {
    ...serializeRates(changed),
    ...(minPromptTokens !== undefined && { min_prompt_tokens: minPromptTokens }),
    ...(utcStart !== undefined && { utc_start: utcStart }),
    ...(utcEnd !== undefined && { utc_end: utcEnd }),
  };
}

function serializeRates(price: Partial<PriceRates>): Partial<Record<keyof typeof rates, string>> {
  const serialized: Partial<Record<keyof typeof rates, string>> = {};
  for (const [rate, word] of RATE_NAMES) {
    const amount = price[rate];
    if (amount !== undefined) serialized[word] = decimalUsd(amount);
  }
  return serialized;
}
