import { z } from 'zod';
import { key, requiredKey } from './schema/key.ts';

/** Costs are exact integers of 1e-12 USD: at this price nine million tokens still fit 2^53. */
const PRICE_USD_MAX = 1_000;
const THRESHOLD_TOKENS_MAX = 100_000_000;
/** Thresholds and times of day in one price. */
const OVERRIDES_MAX = 50;

/**
 * What an endpoint costs: USD per million tokens or characters; all else USD each. An absent member:
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
  readonly imageToken?: number;
  readonly searchUnit?: number;
  readonly character?: number;
  readonly second?: number;
  readonly outputSecond?: number;
}

/** What pictures cost: `catalog/unit-price.ts`. */
interface ImagePrice {
  readonly billable: 'output_image' | 'input_image' | 'input_text';
  readonly unit: 'image' | 'megapixel' | 'token';
  readonly price: number;
  readonly variant?: string;
}

/** Rates for longer prompts, or for a time of day (UTC, HHMM). */
interface Override {
  readonly minPromptTokens?: number;
  readonly utcStart?: number;
  readonly utcEnd?: number;
  readonly rates: Partial<Rates>;
}

export interface EndpointPrice extends Rates {
  readonly overrides?: readonly Override[];
  readonly images?: readonly ImagePrice[];
  readonly video?: Readonly<Record<string, number>>;
  readonly videoRequest?: Readonly<Record<string, number>>;
}

const price = z.number().min(0).max(PRICE_USD_MAX);
const timeOfDay = z
  .int()
  .min(0)
  .max(2_359)
  .refine((time) => time % 100 < 60, 'must be a time of day as HHMM, such as 930');

const rates = {
  prompt: key(price, 'Tokens of the prompt.', { usual: 'as below no threshold', example: 2 }),
  completion: key(price, 'Tokens of the response.', { usual: 'as below no threshold', example: 8 }),
  cache_read: key(price, "Tokens read from the provider's cache.", { usual: 'as `prompt`', example: 0.1 }),
  cache_write: key(price, "Tokens written to the provider's cache.", { usual: 'as `prompt`', example: 1.25 }),
  cache_write_1h: key(price, 'The same, kept for an hour.', { usual: 'as `cache_write`', example: 2 }),
  reasoning: key(price, 'Tokens of reasoning.', { usual: 'as `completion`', example: 2 }),
  audio: key(price, 'Tokens of audio in the prompt.', { usual: 'as `prompt`', example: 10 }),
  audio_output: key(price, 'Tokens of audio in the response.', { usual: 'as `completion`', example: 20 }),
  image_output: key(price, 'Tokens of pictures in the response.', { usual: 'as `completion`', example: 30 }),
  image: key(price, 'A picture in the prompt, USD.', { usual: 'nothing', example: 0.001 }),
  web_search: key(price, 'A search that the model makes by itself, USD.', { usual: 'nothing', example: 0.01 }),
  request: key(price, 'A request, USD.', { usual: 'nothing', example: 0.002 }),
  image_token: key(price, 'Tokens of pictures in the prompt.', { usual: 'as `prompt`', example: 8 }),
  search_unit: key(price, 'A search unit: a query with up to a hundred documents, USD.', {
    usual: 'nothing',
    example: 0.002,
  }),
  character: key(price, 'Characters to be spoken, USD per million.', { usual: 'nothing', example: 15 }),
  second: key(price, 'A second of audio that is heard, USD.', { usual: 'nothing', example: 0.0001 }),
  output_second: key(price, 'A second of audio that is made, USD.', { usual: 'nothing', example: 0.00025 }),
};

/** Lines in one price. */
const LINES_MAX = 100;
/** `720p_audio`, or `*` for what is not named. */
const CLIP_VARIANT = /^(?:\*|[a-z0-9_]{1,64})$/;
const IMAGE_VARIANT = /^(?:\*|[\w.-]{1,32})\/(?:\*|[\w.x-]{1,32})$/;

function variantPrices() {
  return z
    .record(z.string().regex(CLIP_VARIANT, 'must be such as "720p_audio", or "*"'), price)
    .refine((prices) => Object.keys(prices).length <= LINES_MAX, `must have at most ${LINES_MAX} entries`);
}

const imageLine = z.strictObject({
  billable: requiredKey(z.enum(['output_image', 'input_image', 'input_text']), 'What is paid for.', {
    example: 'output_image',
  }),
  unit: requiredKey(z.enum(['image', 'megapixel', 'token']), 'By which unit.', { example: 'image' }),
  cost_usd: requiredKey(price, 'One of them, USD.', { example: 0.04 }),
  variant: key(
    z.string().regex(IMAGE_VARIANT, 'must be a quality and a size, as in "high/1024x1024" or "*/2K"'),
    'For pictures of this quality and size, as in `high/1024x1024` or `*/2K`. The most specific line counts.',
    { usual: 'all', example: '*/1024x1024' },
  ),
});

/** The same in the file's words. */
export const priceShape = {
  ...rates,
  prompt: requiredKey(price, 'Tokens of the prompt.', { example: 1 }),
  completion: requiredKey(price, 'Tokens of the response.', { example: 2 }),
  overrides: z
    .array(
      z
        .strictObject({
          ...rates,
          min_prompt_tokens: key(z.int().min(1).max(THRESHOLD_TOKENS_MAX), 'For prompts of more tokens than this.', {
            usual: 'all',
            example: 200_000,
          }),
          utc_start: key(timeOfDay, 'From this time of day, UTC, as HHMM.', { usual: 'all day', example: 1_630 }),
          utc_end: key(timeOfDay, 'Until this one.', { usual: 'all day', example: 30 }),
        })
        .refine((entry) => (entry.utc_start === undefined) === (entry.utc_end === undefined), {
          message: 'needs both utc_start and utc_end, or neither',
        }),
    )
    .max(OVERRIDES_MAX)
    .optional()
    .meta({ description: 'Rates that hold for long prompts, or at times of day; a later one wins.', usual: 'none' }),
  images: key(z.array(imageLine).min(1).max(LINES_MAX), 'What pictures cost that are made.', { usual: 'their tokens' }),
  video: key(variantPrices(), 'A second of a clip that is made, USD, by what it is.', {
    usual: 'nothing',
    example: { '720p_audio': 0.15, '*': 0.4 },
  }),
  video_request: key(variantPrices(), 'A clip, USD, by what it is.', { usual: 'nothing', example: { '*': 0.5 } }),
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
  ['image_token', 'imageToken'],
  ['search_unit', 'searchUnit'],
  ['character', 'character'],
  ['second', 'second'],
  ['output_second', 'outputSecond'],
] as const satisfies readonly (readonly [keyof typeof rates, keyof Rates])[];

export function readPrice(entry: PriceEntry): EndpointPrice {
  const { prompt, completion, overrides, images, video, video_request: videoRequest } = entry;
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
    ...(images !== undefined && {
      images: images.map(({ billable, unit, cost_usd: usd, variant }) => ({
        billable,
        unit,
        price: usd,
        ...(variant !== undefined && { variant }),
      })),
    }),
    ...(video !== undefined && { video }),
    ...(videoRequest !== undefined && { videoRequest }),
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

export function formatPrice({ overrides, images, video, videoRequest, ...listed }: EndpointPrice): PriceEntry {
  return {
    ...formatRates(listed),
    prompt: listed.prompt,
    completion: listed.completion,
    overrides: overrides?.map((override) => ({
      ...formatRates(override.rates),
      min_prompt_tokens: override.minPromptTokens,
      utc_start: override.utcStart,
      utc_end: override.utcEnd,
    })),
    images: images?.map(({ billable, unit, price: usd, variant }) => ({ billable, unit, cost_usd: usd, variant })),
    video,
    video_request: videoRequest,
  };
}

function formatRates(listed: Partial<Rates>): RatesEntry {
  const formatted: { -readonly [Word in keyof RatesEntry]?: number } = {};
  for (const [word, rate] of WORDS) {
    const amount = listed[rate];
    if (amount !== undefined) formatted[word] = amount;
  }
  return formatted;
}
