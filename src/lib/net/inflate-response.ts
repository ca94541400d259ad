import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
  type InflateRaw,
  type ZstdDecompress,
} from 'node:zlib';
import type { ByteBudget } from '../memory/byte-budget.ts';
import { GrowingBytes } from '../memory/growing-bytes.ts';

type Inflater = Gunzip | Inflate | InflateRaw | BrotliDecompress | ZstdDecompress;

/** Returns the bytes of the next network read, `undefined` at the end. */
export type Read = () => Promise<Uint8Array | undefined>;

/** A server that ignores `identity` applies one encoding, or two by mistake. */
const ENCODINGS_MAX = 2;
/** Window of one zstd inflater: 8 MB, which every decoder must support. RFC 8878, 3.1.1.1.2 */
const ZSTD_WINDOW_LOG_MAX = 23;
const ZSTD_WINDOW_BYTES_MAX = 2 ** ZSTD_WINDOW_LOG_MAX;
/** Memory of an inflater besides a large window: waiting pieces, tables, and a window of 32 KB. */
const INFLATER_BYTES = 131_072;
/** Inflated bytes that wait for the reader; a small piece may inflate a thousandfold. */
const PIECE_BYTES_MAX = 64 * 1_024;

/** The response has an unsupported content encoding. */
export class UnknownEncodingError extends Error {
  readonly encoding: string;

  constructor(encoding: string) {
    super(`unknown content encoding "${encoding}"`);
    this.name = 'UnknownEncodingError';
    this.encoding = encoding;
  }
}

export interface Inflating {
  /** Reads lazily, like its source. @throws what zlib throws for broken data; UnknownEncodingError */
  readonly read: Read;
  /** Frees the memory of zlib. */
  close(): void;
}

/** The encodings of a response, outermost last; empty for one that is not encoded. */
export function encodingsOf(contentEncoding: string | undefined): readonly string[] {
  if (contentEncoding === undefined || contentEncoding === 'identity') return NONE;
  return contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => !NO_ENCODINGS.has(name));
}

/** The last three are no encodings, but hosts send them. */
const NO_ENCODINGS: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8']);

const NONE: readonly string[] = [];

/**
 * Inflates a response that a server encoded although the request accepts no encoding. It works chunk by chunk, so that a
 * stream flows, and a reader that stops also stops the server. The reader counts inflated bytes.
 * @param encodings not empty
 * @param memory of all inflaters together: a window takes of it what was written into it. Absent: nothing counts them
 */
export function inflate(read: Read, encodings: readonly string[], memory?: ByteBudget): Inflating {
  if (encodings.length > ENCODINGS_MAX) return refusing(encodings.join(', '));
  let source = read;
  const opened: OneInflating[] = [];
  for (const encoding of encodings.toReversed()) {
    const open = OPENERS.get(encoding);
    if (open === undefined) return refusing(encoding);
    const one = new OneInflating(source, open, memory && new InflaterMemory(memory, encoding));
    opened.push(one);
    source = () => one.read();
  }
  return { read: source, close: () => opened.forEach((one) => one.close()) };
}

function refusing(encoding: string): Inflating {
  return { read: () => Promise.reject(new UnknownEncodingError(encoding)), close: () => undefined };
}

/** The low half of the first byte of a stream with a zlib header. RFC 1950, 2.2 */
const ZLIB_HEAD = 8;
const PLAIN = { chunkSize: PIECE_BYTES_MAX, highWaterMark: PIECE_BYTES_MAX };
/** By their names in `content-encoding`. @param first byte: some servers omit the header of `deflate` */
const OPENERS: ReadonlyMap<string, (first: number) => Inflater> = new Map<string, (first: number) => Inflater>([
  ['gzip', () => createGunzip({ ...PLAIN, flush: constants.Z_SYNC_FLUSH })],
  ['x-gzip', () => createGunzip({ ...PLAIN, flush: constants.Z_SYNC_FLUSH })],
  [
    'deflate',
    (first) => {
      const options = { ...PLAIN, flush: constants.Z_SYNC_FLUSH };
      return (first & 0x0f) === ZLIB_HEAD ? createInflate(options) : createInflateRaw(options);
    },
  ],
  ['br', () => createBrotliDecompress({ ...PLAIN, flush: constants.BROTLI_OPERATION_FLUSH })],
  [
    'zstd',
    () =>
      createZstdDecompress({
        ...PLAIN,
        flush: constants.ZSTD_e_flush,
        params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
      }),
  ],
]);

/** The share of one inflater in the memory of all, until it is closed. */
class InflaterMemory {
  readonly #over = new AbortController();
  readonly #taken: GrowingBytes;
  readonly #encoding: string;
  /** A single inflater may always continue. */
  readonly #bytesMax: number;
  #outputBytes = 0;

  constructor(memory: ByteBudget, encoding: string) {
    this.#taken = new GrowingBytes(memory, this.#over.signal);
    this.#encoding = encoding;
    this.#bytesMax = memory.bytesMax;
  }

  /**
   * Called before the first byte: a brotli decoder may fill its whole window from a hundred bytes before it returns any
   * output. @throws NoMemoryError as a rejection
   */
  open(first: number): Promise<void> | undefined {
    return this.#hold(this.#encoding === 'br' ? brotliWindowBytes(first) : 0);
  }

  /** Counts inflated bytes, which fill the window of zstd. @throws NoMemoryError as a rejection */
  write(bytes: number): Promise<void> | undefined {
    if (this.#encoding !== 'zstd') return undefined;
    this.#outputBytes = Math.min(this.#outputBytes + bytes, ZSTD_WINDOW_BYTES_MAX);
    return this.#hold(this.#outputBytes);
  }

  close(): void {
    this.#over.abort();
    this.#taken.close();
  }

  #hold(windowBytes: number): Promise<void> | undefined {
    return this.#taken.hold(Math.min(INFLATER_BYTES + windowBytes, this.#bytesMax));
  }
}

/** The window of a brotli stream with this first byte: 1 KB to 16 MB. RFC 7932, 9.1 */
function brotliWindowBytes(first: number): number {
  const long = (first >> 1) & 7;
  const short = (first >> 4) & 7;
  if ((first & 1) === 0) return 2 ** 16;
  if (long > 0) return 2 ** (17 + long);
  return 2 ** (short === 0 ? 17 : 8 + short);
}

/** Undoes one encoding. The first byte opens the inflater, which holds at most one piece of the source. */
class OneInflating {
  readonly #source: Read;
  readonly #open: (first: number) => Inflater;
  readonly #memory: InflaterMemory | undefined;
  #inflater: Inflater | undefined;
  /** Has not yet consumed all of its input. */
  #isBusy = false;
  /** The source has ended. */
  #isLast = false;
  #isOver = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: Read, open: (first: number) => Inflater, memory: InflaterMemory | undefined) {
    this.#source = source;
    this.#open = open;
    this.#memory = memory;
  }

  async read(): Promise<Uint8Array | undefined> {
    while (!this.#isOver) {
      const piece = this.#inflater === undefined ? undefined : await this.#take(this.#inflater);
      if (piece !== undefined) {
        await this.#memory?.write(piece.length);
        return piece;
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#isOver) break;
      const chunk = await this.#source();
      const first = this.#inflater === undefined ? chunk?.[0] : undefined;
      if (first !== undefined) await this.#memory?.open(first);
      this.#give(chunk);
    }
    this.close();
    return undefined;
  }

  close(): void {
    this.#isOver = true;
    this.#inflater?.destroy();
    this.#memory?.close();
    this.#wake?.();
  }

  /** The output for the input so far; `undefined`: it needs more input. */
  async #take(inflater: Inflater): Promise<Uint8Array | undefined> {
    for (;;) {
      const piece: unknown = inflater.read();
      if (piece instanceof Uint8Array) return piece;
      if (!this.#isBusy || this.#isOver || this.#error !== undefined) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #give(chunk: Uint8Array | undefined): void {
    if (chunk === undefined) {
      this.#isLast = true;
      this.#isBusy = true;
      if (this.#inflater === undefined) this.#isOver = true;
      else this.#inflater.end();
      return;
    }
    const [first] = chunk;
    if (first === undefined || this.#isOver) return;
    this.#inflater ??= this.#start(first);
    this.#isBusy = true;
    this.#inflater.write(chunk, () => this.#rest());
  }

  #start(first: number): Inflater {
    const inflater = this.#open(first);
    inflater.on('readable', () => this.#wake?.());
    // May end before the source does, where bytes follow the encoded ones.
    inflater.on('end', () => {
      this.#isOver = true;
      this.#wake?.();
    });
    inflater.on('error', (error: Error & { readonly code?: string }) => {
      // The reader knows what should have arrived, and judges a truncated end.
      if (this.#isLast && error.code === CUT_OFF) this.#isOver = true;
      else this.#error = error;
      this.#wake?.();
    });
    return inflater;
  }

  #rest(): void {
    this.#isBusy = false;
    this.#wake?.();
  }
}

const CUT_OFF = 'Z_BUF_ERROR';
