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
 * Pico-USD for all pictures of a usage. Of each thing that is paid for one line counts, whatever their order: of those whose
 * unit was counted the most specific, which names both parts of its variant, then its size, then its quality, then neither.
 * `undefined`: there is no line for what was made.
 */
function imagesCost(lines: readonly ImagePrice[], usage: Usage, isWorst: boolean): Pico | undefined {
  const { images = 0, imageVariants = [] } = usage.units ?? {};
  const pictures = Array.from({ length: images }, (_, at) => imageVariants[at] ?? NO_VARIANT);
  let sum = 0;
  for (const billable of ['output_image', 'input_image', 'input_text'] as const) {
    const ofBillable = lines.filter((line) => line.billable === billable);
    if (ofBillable.length === 0) continue;
    const things = billable === 'output_image' ? pictures : [pictures[0] ?? NO_VARIANT];
    for (const variant of things) {
      const cost = thingCost(ofBillable, variant, usage, isWorst);
      // The most that may be known of it is the other things.
      if (cost === undefined && !isWorst) return undefined;
      sum += cost ?? 0;
    }
  }
  return Math.round(sum);
}

const NO_VARIANT: ImageVariant = { sizes: [] };

/** A line that fits, and what the thing costs by it. */
interface Fitting {
  readonly line: ImagePrice;
  readonly cost: Pico;
}

/** By the most specific line that fits, or, where the most is wanted, the dearest that may come to fit. */
function thingCost(
  lines: readonly ImagePrice[],
  variant: ImageVariant,
  usage: Usage,
  isWorst: boolean,
): Pico | undefined {
  let best: Fitting | undefined;
  for (const line of lines) {
    const count = fits(line, variant, isWorst) ? countOf(line, usage) : undefined;
    if (count === undefined) continue;
    const fitting = { line, cost: count * line.price };
    if (best === undefined || compare(fitting, best, variant, isWorst) > 0) best = fitting;
  }
  return best?.cost;
}

/** Where two lines say the same, the finer unit counts; where that is the same, too, the price that is higher. */
function compare(one: Fitting, other: Fitting, variant: ImageVariant, isWorst: boolean): number {
  if (isWorst) return one.cost - other.cost;
  return (
    specificity(one.line) - specificity(other.line) ||
    exactness(one.line, variant) - exactness(other.line, variant) ||
    FINENESS[one.line.unit] - FINENESS[other.line.unit] ||
    one.cost - other.cost
  );
}

const FINENESS = { image: 0, megapixel: 1, token: 2 } as const;

/** Of one thing; `undefined`: what the line is for was not counted. */
function countOf({ billable, unit }: ImagePrice, usage: Usage): number | undefined {
  const { promptTokens, imagePromptTokens, imageCompletionTokens } = usage;
  const { images = 0, inputImages = 0, outputPixels } = usage.units ?? {};
  if (billable === 'input_text')
    return unit === 'token' ? Math.max(0, promptTokens - (imagePromptTokens ?? 0)) : undefined;
  if (billable === 'input_image') {
    if (unit === 'image') return inputImages;
    if (inputImages === 0) return 0;
    return unit === 'token' ? imagePromptTokens : undefined;
  }
  if (unit === 'image') return 1;
  if (unit === 'token') return imageCompletionTokens === undefined ? undefined : imageCompletionTokens / images;
  return outputPixels === undefined ? undefined : outputPixels / images / PIXELS_PER_MEGAPIXEL;
}

function partsOf({ variant = ANY }: ImagePrice): readonly [quality: string, size: string] {
  const [quality = ANY, size = ANY] = variant.split('/');
  return [quality, size];
}

function specificity(line: ImagePrice): number {
  const [quality, size] = partsOf(line);
  return (size === ANY ? 0 : 2) + (quality === ANY ? 0 : 1);
}

/** A size in pixels says more than a tier. */
function exactness(line: ImagePrice, { sizes }: ImageVariant): number {
  return -sizes.indexOf(partsOf(line)[1]);
}

function fits(line: ImagePrice, { quality: made, sizes }: ImageVariant, isWorst: boolean): boolean {
  const [quality, size] = partsOf(line);
  const isOfQuality = quality === ANY || quality === made || (isWorst && made === undefined);
  return isOfQuality && (size === ANY || sizes.includes(size) || (isWorst && !sizes.some(isLike(size))));
}

/** Of two sizes in pixels, or of two tiers, one excludes the other; a tier may come to be any size in pixels. */
function isLike(size: string): (other: string) => boolean {
  return (other) => PIXELS.test(other) === PIXELS.test(size);
}

const PIXELS = /^\d+x\d+$/;

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
