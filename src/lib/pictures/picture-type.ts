/** The types of pictures that are known here, by the last part of their media type. */
export const PICTURE_TYPES = ['png', 'jpeg', 'webp', 'gif', 'avif', 'svg'] as const;
export type PictureType = (typeof PICTURE_TYPES)[number];

export const MEDIA_TYPE_OF_PICTURE: Readonly<Record<PictureType, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
};

/** A drawing may begin with a declaration, a doctype and comments. */
const SVG =
  /^\uFEFF?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[\s\S]{0,1000}?-->\s*|<!DOCTYPE[^>]{0,400}>\s*){0,4}<svg[\s>]/i;
const SVG_HEAD_BYTES = 4_096;

/**
 * The type of a picture by its first bytes: neither its name nor its declared type counts. `undefined`: it is none.
 * @source W3C PNG, 5.2; JFIF 1.02; WebP container specification; GIF89a; AV1 image file format, 2.1
 */
export function pictureTypeOf(head: Uint8Array): PictureType | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const start = bytes.toString('latin1', 0, 12);
  if (start.startsWith('\u0089PNG\r\n\u001a\n')) return 'png';
  if (start.startsWith('\u00ff\u00d8\u00ff')) return 'jpeg';
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'gif';
  if (start.slice(4, 8) === 'ftyp') return /^(?:avif|avis)$/.test(start.slice(8, 12)) ? 'avif' : undefined;
  return SVG.test(bytes.toString('utf8', 0, SVG_HEAD_BYTES)) ? 'svg' : undefined;
}
