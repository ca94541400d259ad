/** Containers and codecs of sound that their bytes distinguish. */
export type AudioType = 'wav' | 'mp3' | 'flac' | 'ogg' | 'webm' | 'mp4' | 'aac' | 'amr' | 'caf';

/** Bytes of the beginning that tell. */
const HEAD_BYTES = 16;

export const MEDIA_TYPE_OF_AUDIO: Readonly<Record<AudioType, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  webm: 'audio/webm',
  mp4: 'audio/mp4',
  aac: 'audio/aac',
  amr: 'audio/amr',
  caf: 'audio/x-caf',
};

/** What vendors read the type of a file from. */
export const EXTENSION_OF_AUDIO: Readonly<Record<AudioType, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  flac: 'flac',
  ogg: 'ogg',
  webm: 'webm',
  mp4: 'm4a',
  aac: 'aac',
  amr: 'amr',
  caf: 'caf',
};

/** What a file is, by its first bytes: its name and its declared type do not count. `undefined`: no sound that is known. */
export function audioTypeOf(head: Buffer): AudioType | undefined {
  const start = head.toString('latin1', 0, HEAD_BYTES);
  if (start.startsWith('RIFF') && start.startsWith('WAVE', 8)) return 'wav';
  if (start.startsWith('fLaC')) return 'flac';
  if (start.startsWith('OggS')) return 'ogg';
  if (start.startsWith('\u001aE\u00df\u00a3')) return 'webm';
  if (start.startsWith('ftyp', 4)) return 'mp4';
  if (start.startsWith('#!AMR')) return 'amr';
  if (start.startsWith('caff')) return 'caf';
  if (start.startsWith('ID3')) return 'mp3';
  const [first = 0, second = 0, third = 0] = head;
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  // Layer 0 is that of AAC in its stream format; layer III with no reserved value is MP3.
  if ((second & 0xf6) === 0xf0) return 'aac';
  const isLayer3 = (second & 0x06) === 0x02 && (second & 0x18) !== 0x08;
  const hasRates = third >> 4 !== 0x0f && third >> 4 !== 0 && (third & 0x0c) !== 0x0c;
  return isLayer3 && hasRates ? 'mp3' : undefined;
}
