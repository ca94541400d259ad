/** One frame of MPEG audio, layer III. */
export interface Mp3Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly sampleRate: number;
}

// Kilobits a second of MPEG 1 and of MPEG 2 and 2.5, layer III. @source ISO/IEC 11172-3, 2.4.2.3; ISO/IEC 13818-3
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const;
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

/** The frame whose header begins there; `undefined`: none does. */
export function mp3FrameAt(bytes: Buffer, at: number): Mp3Frame | undefined {
  if (at + 4 > bytes.length) return undefined;
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  if (first !== 0xff || (second & 0xe6) !== 0xe2) return undefined;
  const version = (second >> 3) & 3;
  if (version === 1) return undefined;
  const isFirst = version === 3;
  const kilobits = (isFirst ? RATES_1 : RATES_2)[third >> 4];
  const base = SAMPLE_RATES[(third >> 2) & 3];
  if (kilobits === undefined || kilobits === 0 || base === undefined) return undefined;
  const sampleRate = isFirst ? base : version === 2 ? base / 2 : base / 4;
  const samples = isFirst ? 1_152 : 576;
  const padding = (third >> 1) & 1;
  return { bytes: Math.floor((samples * kilobits * 125) / sampleRate) + padding, samples, sampleRate };
}

const ID3_HEAD_BYTES = 10;

/** Bytes of the tag that stands before the first frame; 0: there is none. @source id3.org, "ID3v2.4.0 Main structure" */
export function id3Bytes(head: Buffer): number {
  if (head.toString('latin1', 0, 3) !== 'ID3' || head.length < ID3_HEAD_BYTES) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, ID3_HEAD_BYTES);
  const footer = ((head[5] ?? 0) & 0x10) === 0 ? 0 : ID3_HEAD_BYTES;
  return ID3_HEAD_BYTES + ((a & 127) << 21) + ((b & 127) << 14) + ((c & 127) << 7) + (d & 127) + footer;
}
