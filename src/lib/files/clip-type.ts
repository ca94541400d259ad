/** As many as tell what a clip is. */
export const CLIP_HEAD_BYTES = 12;

/** The media type of a clip by its first bytes; `undefined`: it is none. @source ISO/IEC 14496-12, 4.3; RFC 8794, 11.2.1 */
export function clipTypeOf(head: Uint8Array): string | undefined {
  const start = Buffer.from(head.subarray(0, CLIP_HEAD_BYTES));
  if (start.toString('latin1', 4, 8) === 'ftyp')
    return start.toString('latin1', 8, 10) === 'qt' ? 'video/quicktime' : 'video/mp4';
  if (start.length >= 4 && start.readUInt32BE() === 0x1a45dfa3) return 'video/webm';
  return undefined;
}
