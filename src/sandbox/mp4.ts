/** A clip that shows one picture, in the Baseline profile of H.264: as it is, without compression. */
export interface StillClip {
  /** Pictures are made of squares of 16 pixels: how many of them. */
  readonly columns: number;
  readonly rows: number;
  readonly durationMs: number;
  /** Stands in the clip as a comment. */
  readonly comment: string;
  /** The colour of each square, rows from the top: luma, and both chromas, 16 to 235. */
  readonly colours: readonly (readonly [number, number, number])[];
}

const SQUARE_PIXELS = 16;
const LUMA_SAMPLES = 256;
const CHROMA_SAMPLES = 64;
const TIMESCALE = 1_000;

/** Writes an MP4 that players show. @source ISO/IEC 14496-12 (boxes), 14496-15 (`avcC`), ITU-T H.264 7.3 (syntax) */
export function writeMp4(clip: StillClip): Buffer {
  const sample = lengthPrefixed(sliceOf(clip));
  const type = box('ftyp', Buffer.from('isom', 'latin1'), uint32(0x200), Buffer.from('isomiso2avc1mp41', 'latin1'));
  // The sample lies behind the two boxes, the second of which says where: its length does not depend on that.
  const offset = type.length + movieBox(clip, sample.length, 0).length + BOX_HEAD_BYTES;
  return Buffer.concat([type, movieBox(clip, sample.length, offset), box('mdat', sample)]);
}

const BOX_HEAD_BYTES = 8;

function box(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([uint32(content.length + BOX_HEAD_BYTES), Buffer.from(name, 'latin1'), content]);
}

function fullBox(name: string, flags: number, ...parts: readonly Uint8Array[]): Buffer {
  return box(name, uint32(flags), ...parts);
}

function uint32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, at) => bytes.writeUInt32BE(value, at * 4));
  return bytes;
}

function uint16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, at) => bytes.writeUInt16BE(value, at * 2));
  return bytes;
}

const UNITY = uint32(0x0001_0000, 0, 0, 0, 0x0001_0000, 0, 0, 0, 0x4000_0000);

function movieBox(clip: StillClip, bytes: number, offset: number): Buffer {
  const { durationMs, comment } = clip;
  return box(
    'moov',
    fullBox(
      'mvhd',
      0,
      uint32(0, 0, TIMESCALE, durationMs, 0x0001_0000, 0x0100_0000, 0, 0),
      UNITY,
      uint32(0, 0, 0, 0, 0, 0, 2),
    ),
    trackBox(clip, bytes, offset),
    box('udta', commentBox(comment)),
  );
}

/** The packed code of "undetermined". */
const LANGUAGE_UND = 0x55c4;

function commentBox(comment: string): Buffer {
  const text = Buffer.from(comment);
  return box('\u00a9cmt', uint16(text.length, LANGUAGE_UND), text);
}

function trackBox(clip: StillClip, bytes: number, offset: number): Buffer {
  const { columns, rows, durationMs } = clip;
  const [width, height] = [columns * SQUARE_PIXELS, rows * SQUARE_PIXELS];
  return box(
    'trak',
    // Enabled, and in the movie.
    fullBox('tkhd', 3, uint32(0, 0, 1, 0, durationMs, 0, 0, 0, 0), UNITY, uint32(width * 0x1_0000, height * 0x1_0000)),
    box(
      'mdia',
      fullBox('mdhd', 0, uint32(0, 0, TIMESCALE, durationMs), uint16(LANGUAGE_UND, 0)),
      fullBox('hdlr', 0, uint32(0), Buffer.from('vide', 'latin1'), uint32(0, 0, 0), Buffer.from('video\0', 'latin1')),
      box(
        'minf',
        fullBox('vmhd', 1, uint16(0, 0, 0, 0)),
        box('dinf', fullBox('dref', 0, uint32(1), fullBox('url ', 1))),
        sampleTable(clip, { width, height, bytes, offset }),
      ),
    ),
  );
}

interface Sample {
  readonly width: number;
  readonly height: number;
  readonly bytes: number;
  readonly offset: number;
}

function sampleTable(clip: StillClip, { width, height, bytes, offset }: Sample): Buffer {
  const compressor = Buffer.alloc(32);
  const entry = box(
    'avc1',
    Buffer.alloc(6),
    uint16(1, 0, 0),
    uint32(0, 0, 0),
    uint16(width, height),
    uint32(0x0048_0000, 0x0048_0000, 0),
    uint16(1),
    compressor,
    uint16(0x18, 0xffff),
    configurationBox(clip),
  );
  return box(
    'stbl',
    fullBox('stsd', 0, uint32(1), entry),
    fullBox('stts', 0, uint32(1, 1, clip.durationMs)),
    fullBox('stsc', 0, uint32(1, 1, 1, 1)),
    fullBox('stsz', 0, uint32(bytes, 1)),
    fullBox('stco', 0, uint32(1, offset)),
  );
}

const BASELINE = 66;
/** Constrained: every decoder reads it. */
const CONSTRAINTS = 0xc0;
const LEVEL = 30;

function configurationBox(clip: StillClip): Buffer {
  const [sequence, picture] = [sequenceSet(clip), pictureSet()];
  const head = Buffer.from([1, BASELINE, CONSTRAINTS, LEVEL, 0xff, 0xe1]);
  return box('avcC', head, uint16(sequence.length), sequence, Buffer.from([1]), uint16(picture.length), picture);
}

function lengthPrefixed(unit: Buffer): Buffer {
  return Buffer.concat([uint32(unit.length), unit]);
}

/** Writes bits, in the codes of the standard. A class because bits follow each other. */
class BitWriter {
  readonly #bytes: number[] = [];
  #current = 0;
  #count = 0;

  bits(value: number, length: number): this {
    for (let at = length - 1; at >= 0; at--) {
      this.#current = (this.#current << 1) | ((value >>> at) & 1);
      if (++this.#count < 8) continue;
      this.#bytes.push(this.#current);
      this.#current = 0;
      this.#count = 0;
    }
    return this;
  }

  /** Unsigned Exp-Golomb. */
  ue(...values: readonly number[]): this {
    for (const value of values) {
      const length = Math.floor(Math.log2(value + 1));
      this.bits(0, length).bits(value + 1, length + 1);
    }
    return this;
  }

  align(): this {
    while (this.#count > 0) this.bits(0, 1);
    return this;
  }

  byte(value: number, times: number): this {
    for (let at = 0; at < times; at++) this.#bytes.push(value);
    return this;
  }

  /** @param head of the unit: its importance and its type */
  end(head: number): Buffer {
    this.bits(1, 1).align();
    return Buffer.from([head, ...escaped(this.#bytes)]);
  }
}

/** Three bytes that begin with two zeros could be taken for the start of a unit. */
function escaped(bytes: readonly number[]): readonly number[] {
  const written: number[] = [];
  let zeros = 0;
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      written.push(3);
      zeros = 0;
    }
    written.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return written;
}

function sequenceSet({ columns, rows }: StillClip): Buffer {
  return (
    new BitWriter()
      .bits(BASELINE, 8)
      .bits(CONSTRAINTS, 8)
      .bits(LEVEL, 8)
      // Id 0; frame numbers of 4 bits; pictures in the order of decoding; no reference frames.
      .ue(0, 0, 2, 0)
      .bits(0, 1)
      .ue(columns - 1, rows - 1)
      // Whole frames; 8x8 inference; neither cropping nor further facts.
      .bits(0b1100, 4)
      .end(0x67)
  );
}

function pictureSet(): Buffer {
  return (
    new BitWriter()
      .ue(0, 0)
      // CAVLC; no field order.
      .bits(0, 2)
      .ue(0, 0, 0)
      .bits(0, 3)
      .ue(0, 0, 0)
      // The slice says that nothing is deblocked.
      .bits(0b100, 3)
      .end(0x68)
  );
}

const SLICE_OF_I = 7;
const SQUARE_AS_IT_IS = 25;

function sliceOf({ colours }: StillClip): Buffer {
  // First square 0; picture set 0; frame number 0; picture 0; two flags for references; quality as it stands; no deblocking.
  const bits = new BitWriter().ue(0, SLICE_OF_I, 0).bits(0, 4).ue(0).bits(0, 2).ue(0, 1);
  for (const [luma, blue, red] of colours)
    bits.ue(SQUARE_AS_IT_IS).align().byte(luma, LUMA_SAMPLES).byte(blue, CHROMA_SAMPLES).byte(red, CHROMA_SAMPLES);
  return bits.end(0x65);
}
