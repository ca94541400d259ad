import { z } from 'zod';

/** Costs are exact integers of 1e-12 USD: at this price nine million tokens still fit 2^53. */
const PRICE_USD_MAX = 1_000;
const THRESHOLD_TOKENS_MAX = 100_000_000;
/** Thresholds and times of day in one price. */
const OVERRIDES_MAX = 50;

/**
 * What an endpoint costs: USD per million tokens; `image`, `webSearch` and `request` USD each. An absent member:
 * `catalog/price.ts` says what it means.
 */
interface Rates {
  readonly prompt: number;
  readonly completion: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  readonly audio?: number;
  readonly audioOutput?: number;
  readonly imageOutput?: number;
  readonly image?: number;
  readonly webSearch?: number;
  readonly request?: number;
}

/** Rates that hold for longer prompts, or at a time of day (UTC, HHMM). */
interface Override {
  readonly minPromptTokens?: number;
  readonly utcStart?: number;
  readonly utcEnd?: number;
  readonly rates: Partial<Rates>;
}

export interface EndpointPrice extends Rates {
  readonly overrides?: readonly Override[];
}

const price = z.number().min(0).max(PRICE_USD_MAX);
const timeOfDay = z
  .int()
  .min(0)
  .max(2_359)
  .refine((time) => time % 100 < 60, 'must be a time of day as HHMM, such as 930');

const rates = {
  prompt: price.optional(),
  completion: price.optional(),
  cache_read: price.optional(),
  cache_write: price.optional(),
  cache_write_1h: price.optional(),
  reasoning: price.optional(),
  audio: price.optional(),
  audio_output: price.optional(),
  image_output: price.optional(),
  image: price.optional(),
  web_search: price.optional(),
  request: price.optional(),
};

/** The same in the file's words. */
export const priceShape = {
  ...rates,
  prompt: price,
  completion: price,
  overrides: z
    .array(
      z
        .strictObject({
          ...rates,
          min_prompt_tokens: z.int().min(1).max(THRESHOLD_TOKENS_MAX).optional(),
          utc_start: timeOfDay.optional(),
          utc_end: timeOfDay.optional(),
        })
        .refine((entry) => (entry.utc_start === undefined) === (entry.utc_end === undefined), {
          message: 'needs both utc_start and utc_end, or neither',
        }),
    )
    .max(OVERRIDES_MAX)
    .optional(),
};

type PriceEntry = z.output<z.ZodObject<typeof priceShape>>;
type RatesEntry = z.output<z.ZodObject<typeof rates>>;

const WORDS = [
  ['prompt', 'prompt'],
  ['completion', 'completion'],
  ['cache_read', 'cacheRead'],
  ['cache_write', 'cacheWrite'],
  ['cache_write_1h', 'cacheWrite1h'],
  ['reasoning', 'reasoning'],
  ['audio', 'audio'],
  ['audio_output', 'audioOutput'],
  ['image_output', 'imageOutput'],
  ['image', 'image'],
  ['web_search', 'webSearch'],
  ['request', 'request'],
] as const satisfies readonly (readonly [keyof typeof rates, keyof Rates])[];

export function readPrice(entry: PriceEntry): EndpointPrice {
  const { prompt, completion, overrides } = entry;
  return {
    ...readRates(entry),
    prompt,
    completion,
    ...(overrides !== undefined && {
      overrides: overrides.map((override) => ({
        ...(override.min_prompt_tokens !== undefined && { minPromptTokens: override.min_prompt_tokens }),
        ...(override.utc_start !== undefined && { utcStart: override.utc_start }),
        ...(override.utc_end !== undefined && { utcEnd: override.utc_end }),
        rates: readRates(override),
      })),
    }),
  };
}

function readRates(entry: RatesEntry): Partial<Rates> {
  const read: { -readonly [Rate in keyof Rates]?: number } = {};
  for (const [word, rate] of WORDS) {
    const amount = entry[word];
    if (amount !== undefined) read[rate] = amount;
  }
  return read;
}

export function drawPrice({ overrides, ...listed }: EndpointPrice): PriceEntry {
  return {
    ...drawRates(listed),
    prompt: listed.prompt,
    completion: listed.completion,
    overrides: overrides?.map((override) => ({
      ...drawRates(override.rates),
      min_prompt_tokens: override.minPromptTokens,
      utc_start: override.utcStart,
      utc_end: override.utcEnd,
    })),
  };
}

function drawRates(listed: Partial<Rates>): RatesEntry {
  const drawn: { -readonly [Word in keyof RatesEntry]?: number } = {};
  for (const [word, rate] of WORDS) {
    const amount = listed[rate];
    if (amount !== undefined) drawn[word] = amount;
  }
  return drawn;
}
