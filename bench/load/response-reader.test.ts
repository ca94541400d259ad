import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import type { Expectation } from './load-job.ts';
import { EVENT_BYTES, writeScript } from '../servers/mock-script.ts';
import { ResponseReader } from './response-reader.ts';

/** Feeds the bytes in pieces through one reused buffer, as a socket does; the rest of that buffer holds misleading newlines. */
function readInPieces(reader: ResponseReader, bytes: Buffer, cuts: readonly number[]): void {
  const buffer = Buffer.alloc(bytes.length + 8, '\n');
  const stops = cuts.map((cut) => cut % bytes.length).toSorted((left, right) => left - right);
  let start = 0;
  for (const stop of [...stops, bytes.length]) {
    if (stop === start) continue;
    buffer.fill('\n');
    bytes.copy(buffer, 0, start, stop);
    reader.read(buffer, stop - start);
    start = stop;
  }
}

function scriptBytes(format: 'chat' | 'messages', model: string): { bytes: Buffer; frames: number } {
  const script = writeScript(format, model);
  assert(script);
  return { bytes: Buffer.concat(script.writes), frames: script.frames };
}

const chunk = (data: string): string => `${data.length.toString(16)}; extension=a\r\n${data}\r\n`;
const cutsArbitrary = fc.array(fc.nat({ max: 100_000 }), { maxLength: 40 });
const stream = (frames: number): Expectation => ({ kind: 'stream', marker: 'data: [DONE]\n\n', frames });

test('every frame of a chunked stream is counted once, wherever the reads are cut', () => {
  const { bytes, frames } = scriptBytes('chat', 'burst-3x20');
  fc.assert(
    fc.property(cutsArbitrary, (cuts) => {
      const reader = new ResponseReader(stream(frames));
      for (let answer = 0; answer < 2; answer += 1) {
        reader.reset();
        readInPieces(reader, bytes, cuts);
        assert.equal(reader.complete, true);
        assert.equal(reader.fault, undefined);
        assert.equal(reader.frames, frames);
      }
    }),
  );
});

test('a frame whose blank line is cut by a chunk boundary is counted once', () => {
  const body = 'data: 1\n\ndata: [DONE]\n\n';
  fc.assert(
    fc.property(cutsArbitrary, fc.integer({ min: 1, max: body.length - 1 }), (cuts, cut) => {
      const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
      const bytes = Buffer.from(`${head}${chunk(body.slice(0, cut))}${chunk(body.slice(cut))}0\r\ntrailer: b\r\n\r\n`);
      const reader = new ResponseReader(stream(2));
      readInPieces(reader, bytes, cuts);
      assert.deepEqual([reader.complete, reader.fault, reader.frames], [true, undefined, 2]);
    }),
  );
});

test('a whole answer is recognised wherever the reads are cut', () => {
  const { bytes } = scriptBytes('messages', 'whole');
  fc.assert(
    fc.property(cutsArbitrary, (cuts) => {
      const reader = new ResponseReader({ kind: 'whole', marker: ' w0 the quick', frames: 0 });
      readInPieces(reader, bytes, cuts);
      assert.deepEqual([reader.complete, reader.fault], [true, undefined]);
    }),
  );
});

test('a stream that lost a frame is a fault', () => {
  const { bytes, frames } = scriptBytes('chat', 'burst-3x20');
  const reader = new ResponseReader(stream(frames + 1));
  readInPieces(reader, bytes, []);
  assert.match(reader.fault ?? '', /^24 frames where 25/);
});

test('a stream that ends without its terminal frame is a fault', () => {
  const bytes = Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n');
  const reader = new ResponseReader(stream(1));
  readInPieces(reader, bytes, []);
  assert.match(reader.fault ?? '', /the stream ends with/);
});

test('an answer without the expected text is a fault', () => {
  const reader = new ResponseReader({ kind: 'whole', marker: 'expected', frames: 0 });
  readInPieces(reader, Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'), []);
  assert.match(reader.fault ?? '', /does not hold/);
});

test('an error status is a fault that shows the start of its body', () => {
  const reader = new ResponseReader(stream(1));
  readInPieces(reader, Buffer.from('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 8\r\n\r\nno more!'), []);
  assert.equal(reader.complete, true);
  assert.match(reader.fault ?? '', /429 Too Many Requests.*no more!/);
});

test('content frames of both formats have the size that the figures are given for', () => {
  for (const format of ['chat', 'messages'] as const) {
    const text = scriptBytes(format, 'burst-1x200').bytes.toString();
    const content = text.split('\n\n').filter((frame) => frame.includes(' w1'));
    assert(content.length > 0);
    for (const frame of content) {
      const data = frame.slice(frame.indexOf(format === 'chat' ? 'data: ' : 'event: '));
      assert.equal(data.length + 2, EVENT_BYTES);
    }
  }
});
