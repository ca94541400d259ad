import type { ImageVariant, UnitCounts, Usage } from '../canonical/usage.ts';

/** What is paid for, and by which unit, in the words of the reference's list of prices. */
export interface ImagePrice {
  readonly billable: 'output_image' | 'input_image' | 'input_text';
  readonly unit: 'image' | 'megapixel' | 'token';
  /** Of one unit. */
  readonly price: number;
  /** `quality/size`, either of them `*`. Absent: `*` for both. */
  readonly variant?: string;
}

/** Prices by what is made; `*` stands for all that is not named. */
export type VariantPrices = Readonly<Record<string, number>>;

const PIXELS_PER_MEGAPIXEL = 1e6;
const MS_PER_SECOND = 1_000;
const ANY = '*';

type Pico = number;

/** Prices of units that are no tokens, pico-USD. */
export interface UnitPrices {
  readonly searchUnit?: number;
  readonly character?: number;
  /** Of audio that is heard, and of audio that is made. */
  readonly second?: number;
  readonly outputSecond?: number;
  readonly images?: readonly ImagePrice[];
  readonly video?: VariantPrices;
  readonly videoRequest?: VariantPrices;
}

/** Pico-USD for what is no token; `undefined`: something was made that no line of the price is for. @spec money-47 */
export function unitsCost(price: UnitPrices, usage: Usage, isWorst: boolean): Pico | undefined {
  const { units = {} } = usage;
  const { searchUnits = 0, characters = 0, audioMs = 0, outputAudioMs = 0, images, videoMs, clips } = units;
  const pictures = images === undefined || price.images === undefined ? 0 : imagesCost(price.images, usage, isWorst);
  const film = videoMs === undefined && clips === undefined ? 0 : videoCost(price, units, isWorst);
  if (pictures === undefined || film === undefined) return undefined;
  return (
    pictures +
    film +
    searchUnits * (price.searchUnit ?? 0) +
    characters * (price.character ?? 0) +
    ofSeconds(audioMs, price.second) +
    ofSeconds(outputAudioMs, price.outputSecond)
  );
}

function ofSeconds(ms: number, perSecond = 0): Pico {
  return Math.round((ms * perSecond) / MS_PER_SECOND);
}

/**
 * Pico-USD for all pictures of a usage. Of each thing that is paid for the most specific line counts: both parts of its
 * variant, then its size, then its quality, then neither. `undefined`: there is no line for what was made.
 */
function imagesCost(lines: readonly ImagePrice[], usage: Usage, isWorst: boolean): Pico | undefined {
  let sum = 0;
  for (const billable of ['output_image', 'input_image', 'input_text'] as const) {
    const ofBillable = lines.filter((line) => line.billable === billable);
    if (ofBillable.length === 0) continue;
    const cost = costOfBillable(ofBillable, usage, isWorst);
    if (cost === undefined) return undefined;
    sum += cost;
  }
  return sum;
}

function costOfBillable(lines: readonly ImagePrice[], usage: Usage, isWorst: boolean): Pico | undefined {
  let sum: number | undefined;
  for (const unit of ['image', 'megapixel', 'token'] as const) {
    const line = lineFor(
      lines.filter((each) => each.unit === unit),
      usage.units?.imageVariant,
      isWorst,
    );
    if (line === undefined) continue;
    const count = countOf(line, usage);
    if (count === undefined) return undefined;
    sum = (sum ?? 0) + Math.round(count * line.price);
  }
  return sum;
}

/** `undefined`: what the line is for was not counted. */
function countOf({ billable, unit }: ImagePrice, usage: Usage): number | undefined {
  const { images, inputImages = 0, outputPixels } = usage.units ?? {};
  if (billable === 'input_text')
    return unit === 'token' ? Math.max(0, usage.promptTokens - (usage.imagePromptTokens ?? 0)) : undefined;
  if (billable === 'input_image') {
    if (unit === 'megapixel') return inputImages === 0 ? 0 : undefined;
    return unit === 'image' ? inputImages : (usage.imagePromptTokens ?? 0);
  }
  if (unit === 'image') return images;
  if (unit === 'token') return usage.imageCompletionTokens ?? usage.completionTokens;
  return outputPixels === undefined ? undefined : outputPixels / PIXELS_PER_MEGAPIXEL;
}

/** The most specific line that fits, or, where the most is wanted, the dearest that may come to fit. */
function lineFor(
  lines: readonly ImagePrice[],
  variant: ImageVariant | undefined,
  isWorst: boolean,
): ImagePrice | undefined {
  let best: ImagePrice | undefined;
  for (const line of lines) {
    if (!fits(line, variant, isWorst)) continue;
    const isBetter = isWorst ? line.price > (best?.price ?? -1) : specificity(line) > (best ? specificity(best) : -1);
    if (isBetter) best = line;
  }
  return best;
}

function partsOf({ variant = ANY }: ImagePrice): readonly [quality: string, size: string] {
  const [quality = ANY, size = ANY] = variant.split('/');
  return [quality, size];
}

function specificity(line: ImagePrice): number {
  const [quality, size] = partsOf(line);
  return (size === ANY ? 0 : 2) + (quality === ANY ? 0 : 1);
}

function fits(line: ImagePrice, variant: ImageVariant | undefined, isWorst: boolean): boolean {
  const [quality, size] = partsOf(line);
  const sizes = variant?.sizes ?? [];
  const isOfQuality = quality === ANY || quality === variant?.quality || (isWorst && variant?.quality === undefined);
  return isOfQuality && (size === ANY || sizes.includes(size) || (isWorst && sizes.length === 0));
}

/** Pico-USD for all clips of a usage: by the second, and by the clip. `undefined`: there is no price for what was made. */
function videoCost(
  { video, videoRequest }: UnitPrices,
  { videoMs = 0, clips = 1, videoVariants = [] }: UnitCounts,
  isWorst: boolean,
): Pico | undefined {
  const second = video === undefined ? 0 : variantPrice(video, videoVariants, isWorst);
  const clip = videoRequest === undefined ? 0 : variantPrice(videoRequest, videoVariants, isWorst);
  if (second === undefined || clip === undefined) return undefined;
  return Math.round((videoMs * second) / MS_PER_SECOND) + clips * clip;
}

function variantPrice(prices: VariantPrices, variants: readonly string[], isWorst: boolean): number | undefined {
  for (const variant of [...variants, ANY]) {
    const price = Object.hasOwn(prices, variant) ? prices[variant] : undefined;
    if (price !== undefined) return price;
  }
  const all = Object.values(prices);
  return isWorst && variants.length === 0 && all.length > 0 ? Math.max(...all) : undefined;
}
