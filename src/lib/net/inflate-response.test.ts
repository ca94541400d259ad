import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { createByteBudget, type ByteBudget } from '../memory/byte-budget.ts';
import { NoMemoryError } from '../memory/growing-bytes.ts';
import { encodingsOf, inflate, UnknownEncodingError, type Inflating, type Read } from './inflate-response.ts';

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(500);
const ENCODED: Readonly<Record<string, readonly [encoding: string, bytes: Buffer]>> = {
  gzip: ['gzip', gzipSync(TEXT)],
  'x-gzip, in capitals': ['X-GZIP', gzipSync(TEXT)],
  'gzip of two members': ['gzip', Buffer.concat([gzipSync(TEXT.slice(0, 99)), gzipSync(TEXT.slice(99))])],
  deflate: ['deflate', deflateSync(TEXT)],
  'deflate without its head': ['deflate', deflateRawSync(TEXT)],
  br: ['br', brotliCompressSync(TEXT)],
  zstd: ['zstd', zstdCompressSync(TEXT)],
  'two encodings': ['deflate, gzip', gzipSync(deflateSync(TEXT))],
};

function inPieces(bytes: Buffer, size: number): Read {
  let at = 0;
  return () => {
    const piece = bytes.subarray(at, at + size);
    at += size;
    return Promise.resolve(piece.length === 0 ? undefined : piece);
  };
}

async function readAll(read: Read): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await read(); piece !== undefined; piece = await read()) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

for (const [name, [encoding, bytes]] of Object.entries(ENCODED))
  test(`inflates ${name}, however its bytes are cut`, async () => {
    for (const size of [1, 7, 100_000])
      assert.equal(await readAll(inflate(inPieces(bytes, size), encodingsOf(encoding)).read), TEXT);
  });

for (const [encoding, compressor] of [
  ['gzip', createGzip({ flush: constants.Z_SYNC_FLUSH })],
  ['deflate', createDeflate({ flush: constants.Z_SYNC_FLUSH })],
  ['br', createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
  ['zstd', createZstdCompress({ flush: constants.ZSTD_e_flush })],
] as const)
  test(`returns the output of a stream in ${encoding} as soon as its input arrives`, async () => {
    const waiting: Uint8Array[] = [];
    let wake: (() => void) | undefined;
    compressor.on('data', (piece: Uint8Array) => {
      waiting.push(piece);
      wake?.();
    });
    const read: Read = async () => {
      while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return waiting.shift();
    };
    const inflating = inflate(read, [encoding]);
    for (const event of ['data: one\n\n', 'data: two\n\n']) {
      compressor.write(event);
      assert.equal(Buffer.from((await inflating.read()) as Uint8Array).toString(), event);
    }
    inflating.close();
    compressor.destroy();
  });

test('returns a bomb in small pieces, and reads only as much as its reader does', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024));
  let reads = 0;
  const source = inPieces(bomb, 1_024);
  const inflating = inflate(() => {
    reads += 1;
    return source();
  }, ['gzip']);
  const piece = await inflating.read();
  assert.ok(piece !== undefined && piece.length <= 64 * 1_024);
  await delay(20);
  assert.ok(reads <= 2);
  inflating.close();
  assert.equal(await inflating.read(), undefined);
});

test('throws where the declared encoding is wrong, and leaves a truncated end to its reader', async () => {
  await assert.rejects(readAll(inflate(inPieces(Buffer.from('no gzip at all'), 99), ['gzip']).read));
  const cut = gzipSync(TEXT).subarray(0, -9);
  assert.ok(TEXT.startsWith(await readAll(inflate(inPieces(cut, 50), ['gzip']).read)));
});

test('refuses an unknown encoding, and more than two encodings', async () => {
  for (const encoding of ['compress', 'gzip, lzma', 'gzip, gzip, gzip'])
    await assert.rejects(
      readAll(inflate(inPieces(gzipSync(TEXT), 99), encodingsOf(encoding)).read),
      UnknownEncodingError,
    );
});

test('leaves a response alone that is not encoded', () => {
  for (const header of [undefined, '', 'identity', 'UTF-8', 'none']) assert.deepEqual(encodingsOf(header), []);
});

suite('memory of all inflaters', () => {
  const MB = 1_048_576;
  const packed = (lgwin: number): Buffer =>
    brotliCompressSync(Buffer.alloc(MB, ' '), { params: { [constants.BROTLI_PARAM_LGWIN]: lgwin } });
  const open = (memory: ByteBudget, lgwin: number): Inflating => {
    const chunks = [packed(lgwin)];
    return inflate(() => Promise.resolve(chunks.shift()), ['br'], memory);
  };

  test('counts the window of brotli from before the first byte to the end of the response', async () => {
    const memory = createByteBudget({ bytesMax: 64 * MB, waitMs: 5, waitingMax: 1 });
    for (const lgwin of [10, 15, 16, 17, 18, 22, 24]) {
      const one = open(memory, lgwin);
      await one.read();
      assert.ok(memory.taken >= 2 ** lgwin && memory.taken <= 2 ** lgwin + MB / 4, `${lgwin}: ${memory.taken}`);
      while ((await one.read()) !== undefined);
      assert.equal(memory.taken, 0);
    }
  });

  test('refuses a window without room, and returns the memory of closed ones', async () => {
    const memory = createByteBudget({ bytesMax: 20 * MB, waitMs: 5, waitingMax: 1 });
    const first = open(memory, 24);
    await first.read();
    await assert.rejects(open(memory, 24).read(), NoMemoryError);
    first.close();
    await open(memory, 24).read();
  });

  test('lets a single inflater continue whose window exceeds the whole budget', async () => {
    const memory = createByteBudget({ bytesMax: MB, waitMs: 5, waitingMax: 1 });
    assert.ok((await open(memory, 24).read()) !== undefined);
  });
});
