import type { PriceEntry } from './data-schema.ts';
import { PICO_PER_USD, UNITS, type ListPrice, type PriceRates, type PriceTable } from './price.ts';

/** The words of files and of answers for the members of a list price. The configuration, which knows no domain, has its own list. */
export const RATE_WORDS = [
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
] as const satisfies readonly (readonly [keyof PriceEntry, keyof PriceRates])[];

type RateWord = (typeof RATE_WORDS)[number][0];

/** A price as the files state it, in our words. */
export function listPriceOf(entry: PriceEntry): ListPrice {
  const { overrides, images, video, video_request: videoRequest } = entry;
  return {
    prompt: entry.prompt,
    completion: entry.completion,
    ...ratesIn(entry),
    ...(overrides !== undefined && {
      overrides: overrides.map((override) => ({
        ...(override.min_prompt_tokens !== undefined && { minPromptTokens: override.min_prompt_tokens }),
        ...(override.utc_start !== undefined && { utcStart: override.utc_start }),
        ...(override.utc_end !== undefined && { utcEnd: override.utc_end }),
        rates: ratesIn(override),
      })),
    }),
    ...(images !== undefined && {
      images: images.map(({ billable, unit, cost_usd: price, variant }) => ({
        billable,
        unit,
        price,
        ...(variant !== undefined && { variant }),
      })),
    }),
    ...(video !== undefined && { video }),
    ...(videoRequest !== undefined && { videoRequest }),
  };
}

/** In the words of the files: USD per million tokens or characters; all else USD each. */
export function serializePrice(price: PriceTable): Partial<Record<RateWord, number>> {
  const serialized: Partial<Record<RateWord, number>> = {};
  for (const [word, rate] of RATE_WORDS) {
    const pico = price[rate];
    if (pico !== undefined) serialized[word] = (pico * UNITS[rate]) / PICO_PER_USD;
  }
  return serialized;
}

function ratesIn(entry: Readonly<Partial<Record<RateWord, number | undefined>>>): Partial<PriceRates> {
  const found: { -readonly [Rate in keyof PriceRates]?: number } = {};
  for (const [word, rate] of RATE_WORDS) {
    const price = entry[word];
    if (price !== undefined) found[rate] = price;
  }
  return found;
}
