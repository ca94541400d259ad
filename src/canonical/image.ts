import { assert } from '../lib/assert.ts';
import type { SpooledFile } from '../lib/files/spool.ts';
import type { JsonObject } from '../lib/json.ts';
import type { PictureSize } from '../lib/pictures/picture-size.ts';
import type { PictureType } from '../lib/pictures/picture-type.ts';
import type { Directives } from './directives.ts';
import type { Extra, Warning } from './extra.ts';

export const IMAGE_OUTPUT_FORMATS = ['png', 'jpeg', 'webp', 'svg', 'gif'] as const;
export type ImageOutputFormat = (typeof IMAGE_OUTPUT_FORMATS)[number];
export const IMAGE_TIERS = ['512', '1K', '2K', '4K'] as const;
export type ImageTier = (typeof IMAGE_TIERS)[number];
export const IMAGE_QUALITIES = ['auto', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export const IMAGE_BACKGROUNDS = ['auto', 'transparent', 'opaque'] as const;

/** A picture that a request brought, checked by its own bytes. */
export interface PictureFile {
  readonly file: SpooledFile;
  readonly type: PictureType;
  readonly size: PictureSize;
}

/** A picture of a request, at its path in it: an address, or the id of a stored file, until it is fetched. */
export type PictureInput = { readonly path: string } & (
  | { readonly url: string }
  | { readonly fileId: string }
  | { readonly upload: SpooledFile }
  | { readonly picture: PictureFile }
);

/** How the caller reads the answer: as the gateway gives it, or as OpenAI's clients do. */
export type ImageClientShape = 'gateway' | 'generation' | 'edit';

/** A request for pictures. */
export interface ImageOperation {
  readonly kind: 'image';
  readonly delivery: 'whole' | 'stream';
  readonly prompt: string;
  /** Pictures that are wanted. */
  readonly n: number;
  /** In pixels; absent: as the tier and the ratio say, or the model's own. */
  readonly size?: PictureSize;
  readonly tier?: ImageTier;
  /** `16:9`. */
  readonly aspectRatio?: string;
  /** Absent, and `auto`: the model's own. */
  readonly quality?: string;
  readonly outputFormat?: ImageOutputFormat;
  readonly outputCompression?: number;
  readonly background?: string;
  readonly seed?: number;
  /** Previews that are wanted in a stream. Absent: as many as the upstream sends. */
  readonly partialImages?: number;
  /** What the pictures are made from, in order. */
  readonly references: readonly PictureInput[];
  /** What of the first reference may change: where it is transparent. */
  readonly mask?: PictureInput;
  /** How strictly the vendor looks at the prompt, in its own words. */
  readonly moderation?: string;
  readonly shape: ImageClientShape;
  /** In which the vendor's shape holds the pictures. */
  readonly responseFormat: 'b64_json' | 'url';
  /** Members for single providers, by slug. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  readonly extra?: Extra;
  readonly warnings: readonly Warning[];
}

/** What is known of a model that makes pictures, at one provider. Absent: unknown, which excludes nothing. */
export interface ImageFacts {
  /** In one call. */
  readonly nMax?: number;
  /** In pixels: `1024x1024`. */
  readonly sizes?: readonly string[];
  readonly resolutions?: readonly ImageTier[];
  readonly aspectRatios?: readonly string[];
  readonly qualities?: readonly string[];
  readonly outputFormats?: readonly ImageOutputFormat[];
  readonly backgrounds?: readonly string[];
  /** Pictures that it takes; 0: none. */
  readonly referencesMax?: number;
  readonly mask?: boolean;
  readonly seed?: boolean;
  readonly streaming?: boolean;
  /** Tokens of one picture, the dearest that it makes. */
  readonly tokensPerImage?: number;
}

/** The pictures of a request, once all of them are here. */
export function picturesOf({ references }: Pick<ImageOperation, 'references'>): readonly PictureFile[] {
  return references.map(pictureOf);
}

export function pictureOf(input: PictureInput): PictureFile {
  assert('picture' in input, 'pictures of a request are fetched before a provider is called');
  return input.picture;
}

const TIER_SIDE: Readonly<Record<ImageTier, number>> = { '512': 512, '1K': 1_024, '2K': 2_048, '4K': 4_096 };

/** The tier that is nearest to a size, by its area. */
export function tierOf({ width, height }: PictureSize): ImageTier {
  const side = Math.sqrt(width * height);
  const distance = (tier: ImageTier): number => Math.abs(Math.log(side / TIER_SIDE[tier]));
  return IMAGE_TIERS.reduce((best, tier) => (distance(tier) < distance(best) ? tier : best));
}

/** Of a square picture of the tier. */
export function pixelsOfTier(tier: ImageTier): number {
  return TIER_SIDE[tier] ** 2;
}

export function sizeText({ width, height }: PictureSize): string {
  return `${width}x${height}`;
}

/** Every word for a size, the most exact first. @param tier of a picture whose size is not known */
export function sizesOf(size: PictureSize | undefined, tier?: ImageTier): readonly string[] {
  if (size !== undefined) return [sizeText(size), tierOf(size)];
  return tier === undefined ? [] : [tier];
}

/** Two ratios are the same as long as a picture of either looks like one of the other. */
const RATIO_TOLERANCE = 0.02;

/** `16:9` as a number. */
export function ratioOf(aspectRatio: string): number {
  const [width = 1, height = 1] = aspectRatio.split(':').map(Number);
  return width / height;
}

export function hasRatio({ width, height }: PictureSize, aspectRatio: string): boolean {
  return Math.abs(width / height / ratioOf(aspectRatio) - 1) <= RATIO_TOLERANCE;
}

const SIDE_STEP = 16;

/** The pixels of a tier and a ratio: as many as a square of the tier has, sides in steps of 16. */
export function sizeOfTier(tier: ImageTier, aspectRatio = '1:1'): PictureSize {
  const ratio = ratioOf(aspectRatio);
  const round = (side: number): number => Math.max(SIDE_STEP, Math.round(side / SIDE_STEP) * SIDE_STEP);
  return {
    width: round(Math.sqrt(pixelsOfTier(tier) * ratio)),
    height: round(Math.sqrt(pixelsOfTier(tier) / ratio)),
  };
}
