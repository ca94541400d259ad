import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable, Transform } from 'node:stream';
import { GatewayError } from '../../canonical/gateway-error.ts';

export interface BodyLimits {
  /** Counted after inflation too. */
  readonly bytesMax: number;
  /** Longest pause between two pieces. */
  readonly idleMs: number;
  /** From the first read to the last byte. */
  readonly totalMs: number;
}

const INFLATORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * The whole body as bytes. A declared length over the limit is refused before a byte is read.
 * @throws GatewayError 413, 408 when it comes too slowly, 400 when it breaks off or does not inflate
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.bytesMax) throw tooLarge(limits.bytesMax);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '')
    return takeWhole(request, declared) ?? collect(request, request, limits);
  const inflate = INFLATORS[encoding];
  if (inflate === undefined)
    throw new GatewayError(
      'invalid_request',
      `Content-Encoding: ${JSON.stringify(encoding.slice(0, 40))} is not supported.`,
    );
  return collect(request.pipe(inflate()), request, limits);
}

/** A small body comes in one piece with its headers: there is nothing to wait for, and nothing to time. */
function takeWhole(request: IncomingMessage, declared: number): Buffer | undefined {
  if (declared === 0 || request.readableLength !== declared) return undefined;
  const whole: unknown = request.read(declared);
  // Its end, which is still to come, must find a reader: only then is the request over for Node.
  request.resume();
  return Buffer.isBuffer(whole) ? whole : undefined;
}

function collect(
  stream: Readable,
  request: IncomingMessage,
  { bytesMax, idleMs, totalMs }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const startedMs = performance.now();
    let bytes = 0;
    const idle = setTimeout(() => fail(tooSlow()), idleMs);
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      idle.refresh();
      if (bytes > bytesMax) fail(tooLarge(bytesMax));
      else if (performance.now() - startedMs > totalMs) fail(tooSlow());
      else chunks.push(chunk);
    };
    const fail = (error: GatewayError): void => {
      clearTimeout(idle);
      stream.removeListener('data', onData);
      request.pause();
      if (stream !== request) {
        request.unpipe();
        stream.destroy();
      }
      reject(error);
    };
    stream.on('data', onData);
    stream.on('end', () => {
      clearTimeout(idle);
      const only = chunks.length === 1 ? chunks[0] : undefined;
      resolve(only ?? Buffer.concat(chunks, bytes));
    });
    stream.on('error', (cause) => {
      fail(new GatewayError('invalid_request', 'The request body could not be read.', { cause }));
    });
    // A caller who vanishes in the middle of the body: nobody is left to answer, but nothing may wait for ever.
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
