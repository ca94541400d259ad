import type { IncomingMessage } from 'node:http';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Readable, Transform } from 'node:stream';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { BodyShare } from './body-budget.ts';

export interface BodyLimits {
  /** Counted after inflation too. */
  readonly bytesMax: number;
  /** Longest pause between two pieces. */
  readonly idleMs: number;
  /** From the first read to the last byte. */
  readonly totalMs: number;
}

/** A frame with a larger window is refused: 8 MB is what every decoder is to take. @source RFC 8878, section 3.1.1.1.2 */
const ZSTD_WINDOW_LOG_MAX = 23;

interface Inflation {
  readonly create: () => Transform;
  /** What the inflator keeps of its output, by the first bytes of its input. Absent: little. */
  readonly windowBytes?: (head: Buffer) => number;
}

const INFLATIONS: Readonly<Record<string, Inflation>> = {
  gzip: { create: createGunzip },
  'x-gzip': { create: createGunzip },
  deflate: { create: createInflate },
  br: { create: createBrotliDecompress, windowBytes: ([first = 0]) => brotliWindowBytes(first) },
  zstd: {
    create: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
    windowBytes: zstdWindowBytes,
  },
};

const CALLBACK_OVER = Promise.resolve();

/**
 * The whole body as bytes. A declared length over the limit is refused before a byte is read.
 * @param share is taken of as the body comes
 * @throws GatewayError 413, 408 when it comes too slowly, 400 when it breaks off or does not inflate, 503 without room
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, share?: BodyShare): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.bytesMax) return Promise.reject(tooLarge(limits.bytesMax));
  // What came in one network read with the headers is handed over once the callback for these is over.
  return CALLBACK_OVER.then(() => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (encoding === 'identity' || encoding === '')
      return takeWhole(request, declared, share) ?? collect(request, request, limits, share);
    return readInflated(request, encoding, limits, share);
  });
}

function readInflated(
  request: IncomingMessage,
  encoding: string,
  limits: BodyLimits,
  share: BodyShare | undefined,
): Promise<Buffer> {
  const inflation = Object.hasOwn(INFLATIONS, encoding) ? INFLATIONS[encoding] : undefined;
  if (inflation === undefined)
    throw new GatewayError(
      'invalid_request',
      `Content-Encoding: ${JSON.stringify(encoding.slice(0, 40))} is not supported.`,
    );
  const inflator = inflation.create();
  const { windowBytes } = inflation;
  if (windowBytes !== undefined)
    // Before the inflator sees the first bytes and takes its window.
    request.prependOnceListener('data', (head: Buffer) => {
      try {
        share?.take(windowBytes(head), 1);
      } catch (error) {
        inflator.destroy(error instanceof Error ? error : undefined);
      }
    });
  return collect(request.pipe(inflator), request, limits, share);
}

/** What a decoder keeps of its output, by the first byte of its input: up to 16 MB. @source RFC 7932, section 9.1, WBITS */
function brotliWindowBytes(first: number): number {
  if ((first & 1) === 0) return 2 ** 16;
  const high = (first >> 1) & 7;
  if (high > 0) return 2 ** (17 + high);
  const low = (first >> 4) & 7;
  return low === 0 ? 2 ** 17 : 2 ** (8 + low);
}

const ZSTD_MAGIC_BYTES = 4;
const ZSTD_WINDOW_MAX = 2 ** ZSTD_WINDOW_LOG_MAX;

/**
 * The window of the first frame; the most that is allowed where the head does not tell: when it is cut, when the frame is
 * its own window, or is skipped. @source RFC 8878, section 3.1.1.1
 */
function zstdWindowBytes(head: Buffer): number {
  const descriptor = head[ZSTD_MAGIC_BYTES];
  const window = head[ZSTD_MAGIC_BYTES + 1];
  const isSegment = descriptor === undefined || (descriptor & 0b10_0000) !== 0;
  if (isSegment || window === undefined || head.readUInt32LE() !== 0xfd2f_b528) return ZSTD_WINDOW_MAX;
  const base = 2 ** (10 + (window >> 3));
  return Math.min(base + (base / 8) * (window & 7), ZSTD_WINDOW_MAX);
}

/** A small body comes in one piece with its headers: there is nothing to wait for, and nothing to time. */
function takeWhole(request: IncomingMessage, declared: number, share: BodyShare | undefined): Buffer | undefined {
  if (declared === 0 || request.readableLength !== declared) return undefined;
  share?.take(declared);
  const whole: unknown = request.read(declared);
  // Its end, which is still to come, must find a reader: only then is the request over for Node.
  request.resume();
  return Buffer.isBuffer(whole) ? whole : undefined;
}

function collect(
  stream: Readable,
  request: IncomingMessage,
  { bytesMax, idleMs, totalMs }: BodyLimits,
  share: BodyShare | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const idle = setTimeout(() => fail(tooSlow()), idleMs);
    const total = setTimeout(() => fail(tooSlow()), totalMs);
    const stopClocks = (): void => {
      clearTimeout(idle);
      clearTimeout(total);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      idle.refresh();
      if (bytes > bytesMax) {
        fail(tooLarge(bytesMax));
        return;
      }
      try {
        share?.take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        fail(error);
      }
    };
    const fail = (error: unknown): void => {
      stopClocks();
      stream.removeListener('data', onData);
      chunks.length = 0;
      request.pause();
      if (stream !== request) {
        request.unpipe();
        stream.destroy();
      }
      reject(error);
    };
    stream.on('data', onData);
    stream.on('end', () => {
      stopClocks();
      const only = chunks.length === 1 ? chunks[0] : undefined;
      resolve(only ?? Buffer.concat(chunks, bytes));
    });
    stream.on('error', (cause) => {
      fail(
        cause instanceof GatewayError
          ? cause
          : new GatewayError('invalid_request', 'The request body could not be read.', { cause }),
      );
    });
    // A caller that hangs up in the middle of the body: there is no one to respond to, but nothing may wait for ever.
    request.on('close', () => {
      if (!request.complete) fail(new GatewayError('invalid_request', 'The request body broke off.'));
    });
  });
}

function tooSlow(): GatewayError {
  return new GatewayError('timeout', 'The request body arrived too slowly.', { status: 408 });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('payload_too_large', `The request body is larger than ${bytesMax} bytes.`);
}
