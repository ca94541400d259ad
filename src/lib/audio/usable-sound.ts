import { id3Bytes, mp3FrameAt } from './mp3-frame.ts';

/** How speech comes: samples without a head (`pcm`), or in a container. */
export type SoundFormat = 'pcm' | 'mp3' | 'wav' | 'opus' | 'flac' | 'aac';

/** What is held of a sound until it is known to be one: a tag with a picture may stand before it. */
export const SOUND_HEAD_BYTES_MAX = 1_048_576;

const WAV_DATA_HEAD_BYTES = 8;
const SAMPLE_BYTES = 2;
const FLAC_FRAME_BYTES = 16;
const OGG_PAGE_HEAD_BYTES = 27;
/** Pages of an Opus stream that hold no sound: its head and its comments. @source RFC 7845, 3 */
const OGG_HEAD_PAGES = 2;
const ADTS_HEAD_BYTES = 7;
const CHUNKS_MAX = 64;

/** Whether these bytes, the first of a sound, hold something that can be heard. */
export function isUsable(head: Buffer, format: SoundFormat): boolean {
  switch (format) {
    case 'pcm':
      return head.length >= SAMPLE_BYTES;
    case 'mp3':
      return hasMp3Frame(head);
    case 'wav':
      return wavDataAt(head) !== undefined && head.length >= (wavDataAt(head) ?? 0) + SAMPLE_BYTES;
    case 'opus':
      return hasOggSound(head);
    case 'flac':
      return hasFlacFrame(head);
    case 'aac':
    default:
      return hasAdtsFrame(head);
  }
}

function hasMp3Frame(head: Buffer): boolean {
  const at = id3Bytes(head);
  const frame = mp3FrameAt(head, at);
  return frame !== undefined && head.length >= at + frame.bytes;
}

/** Where the samples of a WAV file begin; `undefined`: not here yet, or it is none. */
export function wavDataAt(head: Buffer): number | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  for (let at = 12, step = 0; at + WAV_DATA_HEAD_BYTES <= head.length && step < CHUNKS_MAX; step++) {
    if (head.toString('latin1', at, at + 4) === 'data') return at + WAV_DATA_HEAD_BYTES;
    const size = head.readUInt32LE(at + 4);
    at += WAV_DATA_HEAD_BYTES + size + (size & 1);
  }
  return undefined;
}

function hasOggSound(head: Buffer): boolean {
  let at = 0;
  for (
    let page = 0;
    head.toString('latin1', at, at + 4) === 'OggS' && at + OGG_PAGE_HEAD_BYTES <= head.length;
    page++
  ) {
    const segments = head[at + OGG_PAGE_HEAD_BYTES - 1] ?? 0;
    const table = head.subarray(at + OGG_PAGE_HEAD_BYTES, at + OGG_PAGE_HEAD_BYTES + segments);
    if (table.length < segments) return false;
    at += OGG_PAGE_HEAD_BYTES + segments + table.reduce((sum, bytes) => sum + bytes, 0);
    if (at > head.length) return false;
    if (page >= OGG_HEAD_PAGES) return true;
  }
  return false;
}

/** Blocks of metadata stand before the frames; the last of them says so. @source RFC 9639, 8 */
function hasFlacFrame(head: Buffer): boolean {
  if (head.toString('latin1', 0, 4) !== 'fLaC') return false;
  for (let at = 4, step = 0; at + 4 <= head.length && step < CHUNKS_MAX; step++) {
    const first = head.readUInt8(at);
    at += 4 + head.readUIntBE(at + 1, 3);
    if ((first & 0x80) !== 0) return head.length >= at + FLAC_FRAME_BYTES;
  }
  return false;
}

function hasAdtsFrame(head: Buffer): boolean {
  if (head.length < ADTS_HEAD_BYTES || head[0] !== 0xff || ((head[1] ?? 0) & 0xf6) !== 0xf0) return false;
  const bytes = (((head[3] ?? 0) & 3) << 11) | ((head[4] ?? 0) << 3) | ((head[5] ?? 0) >> 5);
  return bytes >= ADTS_HEAD_BYTES && head.length >= bytes;
}
