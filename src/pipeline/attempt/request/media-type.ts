import type { MediaBlock } from '../../../canonical/blocks.ts';
import type { Downloaded } from '../../../lib/net/download.ts';

/** First bytes of what models read. Servers often name the type of a file wrongly, or not at all. */
const SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['application/pdf', /^%PDF-/],
  ['audio/wav', /^RIFF.{4}WAVE/s],
  ['audio/mpeg', /^(?:ID3|\xff[\xfb\xf3\xf2])/],
  // One container for many kinds: the brand behind its mark tells them apart. ISO 14496-12; mp4ra.org, read 2026-11
  ['image/avif', /^.{4}ftypavi[fs]/s],
  ['image/heic', /^.{4}ftyphe(?:i[cxms]|v[cxms])/s],
  ['image/heif', /^.{4}ftypm(?:if|sf)1/s],
  ['audio/mp4', /^.{4}ftypM4[AB]/s],
  ['video/quicktime', /^.{4}ftypqt/s],
  ['video/3gpp', /^.{4}ftyp3g/s],
  ['video/mp4', /^.{4}ftyp/s],
  ['video/webm', /^.E\xdf\xa3/s],
];
const SIGNATURE_BYTES = 16;

const FALLBACK = {
  image: 'image/png',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  document: 'application/pdf',
} as const satisfies Record<MediaBlock['media'], string>;

/** What a file is: by its first bytes, else as its server said, else as the request used it. */
export function mediaTypeOf({ bytes, mediaType }: Downloaded, media: MediaBlock['media']): string {
  const head = bytes.subarray(0, SIGNATURE_BYTES).toString('latin1');
  const [known] = SIGNATURES.find(([, signature]) => signature.test(head)) ?? [];
  if (known !== undefined) return known;
  const vague = mediaType === undefined || mediaType === 'application/octet-stream';
  return vague ? FALLBACK[media] : mediaType;
}
