import type { Warning } from '../../canonical/extra.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { ratioOf, type ImageOperation, type PictureFile } from '../../canonical/image.ts';
import type { ByteSource } from '../../lib/files/spool.ts';
import { MEDIA_TYPE_OF_PICTURE } from '../../lib/pictures/picture-type.ts';

/** What has no effect on what a picture shows may be left out. */
type Droppable = 'quality' | 'background' | 'output_format' | 'output_compression' | 'moderation' | 'seed';

/** Warnings for the members of a request that a format has no word for. */
export function droppedWarnings(operation: ImageOperation, members: readonly Droppable[]): readonly Warning[] {
  const { quality, background } = operation;
  const given: Readonly<Record<Droppable, unknown>> = {
    quality: quality === 'auto' ? undefined : quality,
    background: background === 'auto' ? undefined : background,
    output_format: operation.outputFormat,
    output_compression: operation.outputCompression,
    moderation: operation.moderation,
    seed: operation.seed,
  };
  return members.flatMap((path) =>
    given[path] === undefined
      ? []
      : [{ code: 'field-dropped' as const, path, message: 'the provider has no member for it' }],
  );
}

/** @throws GatewayError 400 for a mask, which says by its transparency what may change */
export function refuseMask({ mask }: ImageOperation): void {
  if (mask !== undefined) throw invalid('mask', 'is taken by no endpoint of this provider');
}

export function dataUrlOf({ file, type }: PictureFile, place: (file: ByteSource) => string): string {
  return `data:${MEDIA_TYPE_OF_PICTURE[type]};base64,${place(file)}`;
}

/** `1024x1536` as `2:3`. */
export function exactRatio({ size, aspectRatio }: Pick<ImageOperation, 'size' | 'aspectRatio'>): string | undefined {
  if (aspectRatio !== undefined || size === undefined) return aspectRatio;
  const divisor = commonDivisor(size.width, size.height);
  return `${size.width / divisor}:${size.height / divisor}`;
}

/** @throws GatewayError 400 for a ratio beyond those that a format takes */
export function boundedRatio(
  geometry: Pick<ImageOperation, 'size' | 'aspectRatio'>,
  narrowest: string,
  widest: string,
): string | undefined {
  const ratio = exactRatio(geometry);
  if (ratio === undefined) return undefined;
  const value = ratioOf(ratio);
  if (value >= ratioOf(narrowest) && value <= ratioOf(widest)) return ratio;
  const path = geometry.aspectRatio === undefined ? 'size' : 'aspect_ratio';
  throw invalid(path, `must be a ratio from ${narrowest} to ${widest} at this provider`);
}

function commonDivisor(left: number, right: number): number {
  return right === 0 ? left : commonDivisor(right, left % right);
}
