/** 16 bits, little-endian, one channel. */
export interface PcmFormat {
  readonly sampleRate: number;
}

export const WAV_HEAD_BYTES = 44;
const BYTES_PER_SAMPLE = 2;
const UNKNOWN = 0xffff_ffff;

/** The head of a WAV file of such samples. @param bytes of the samples; absent: as many as come, in a stream */
export function wavHead({ sampleRate }: PcmFormat, bytes = UNKNOWN): Buffer {
  const head = Buffer.alloc(WAV_HEAD_BYTES);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(bytes === UNKNOWN ? UNKNOWN : bytes + WAV_HEAD_BYTES - 8, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(bytes, 40);
  return head;
}

/** What the head of a WAV file says of its samples; `undefined`: its head is of another form. */
export function wavFormatOf(head: Buffer): (PcmFormat & { readonly isPlain: boolean }) | undefined {
  if (head.length < WAV_HEAD_BYTES || head.toString('latin1', 12, 16) !== 'fmt ') return undefined;
  const [code, channels] = [head.readUInt16LE(20), head.readUInt16LE(22)];
  // `extensible` says no more than that more is said behind.
  const isPlain = (code === 1 || code === 0xff_fe) && channels === 1 && head.readUInt16LE(34) === 16;
  return { sampleRate: head.readUInt32LE(24), isPlain };
}
