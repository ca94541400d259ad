import { invalid } from '../../canonical/gateway-error.ts';
import { hasRatio, ratioOf, sizeOfTier, sizeText, tierOf, type ImageOperation } from '../../canonical/image.ts';
import type { PictureSize } from '../../lib/pictures/picture-size.ts';

type Geometry = Pick<ImageOperation, 'size' | 'tier' | 'aspectRatio'>;

/** The pixels that are wanted; `undefined`: nothing is said of them. */
export function pixelsWanted({ size, tier, aspectRatio }: Geometry): PictureSize | undefined {
  if (size !== undefined) return size;
  if (tier === undefined && aspectRatio === undefined) return undefined;
  return sizeOfTier(tier ?? '1K', aspectRatio);
}

/**
 * The word of a format for the ratio that is wanted; `undefined`: nothing is said of it.
 * @throws GatewayError 400 for a size of which none of its words is true
 */
export function ratioWanted({ size, aspectRatio }: Geometry, ratios: readonly string[]): string | undefined {
  if (aspectRatio !== undefined) {
    if (ratios.includes(aspectRatio)) return aspectRatio;
    throw invalid('aspect_ratio', `must be one of ${ratios.join(', ')} at this provider`);
  }
  if (size === undefined) return undefined;
  const near = ratios.toSorted((left, right) => distance(size, left) - distance(size, right))[0];
  if (near !== undefined && hasRatio(size, near)) return near;
  throw invalid('size', `${sizeText(size)} has no ratio of this provider: ${ratios.join(', ')}`);
}

function distance({ width, height }: PictureSize, ratio: string): number {
  return Math.abs(Math.log(width / height / ratioOf(ratio)));
}

/** The word of a format for the tier that is wanted. @throws GatewayError 400 for one that it has no word for */
export function tierWanted({ size, tier }: Geometry, words: Readonly<Record<string, string>>): string | undefined {
  const wanted = tier ?? (size && tierOf(size));
  if (wanted === undefined) return undefined;
  const word = words[wanted];
  if (word !== undefined) return word;
  throw invalid(tier === undefined ? 'size' : 'resolution', `must be one of ${Object.keys(words).join(', ')} here`);
}
