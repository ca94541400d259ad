import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { frameBytesMax, readFrames, writeFrame } from './frames.ts';

const LINE = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 200 })
  .map((text) => JSON.stringify(text.toWellFormed()));
const LINES = fc.array(LINE, { minLength: 1, maxLength: 8 });
const ROOM = 256;

/** The frames of some lines, with room behind them. */
function framesOf(lines: readonly string[]): {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly end: number;
} {
  const bytes = Buffer.alloc(lines.reduce((sum, line) => sum + frameBytesMax(line), ROOM));
  const starts: number[] = [];
  let end = 0;
  for (const line of lines) {
    starts.push(end);
    end = writeFrame(bytes, end, line);
  }
  return { bytes: bytes.subarray(0, end + ROOM), starts, end };
}

const payloadsOf = (bytes: Buffer): readonly string[] => readFrames(bytes).frames.map(({ payload }) => payload);

suite('frames', () => {
  test('reads what was written, up to room that is not written yet', () => {
    fc.assert(
      fc.property(LINES, (lines) => {
        const { bytes, end } = framesOf(lines);
        const read = readFrames(bytes);
        assert.deepEqual(
          read.frames.map(({ payload }) => payload),
          lines,
        );
        assert.deepEqual([read.damaged, read.end, read.isCutOff], [[], end, false]);
      }),
    );
  });

  test('reads the frames before the place where the bytes end, and says that more are there', () => {
    fc.assert(
      fc.property(LINES, fc.nat(), (lines, at) => {
        const { bytes, starts, end } = framesOf(lines);
        const cut = at % end;
        const read = readFrames(bytes.subarray(0, cut));
        const whole = [...starts.slice(1), end].filter((frameEnd) => frameEnd <= cut).length;
        assert.deepEqual(
          read.frames.map(({ payload }) => payload),
          lines.slice(0, whole),
        );
        assert.deepEqual(read.damaged, []);
        assert.equal(read.isCutOff, cut > read.end);
      }),
    );
  });

  test('skips a frame with a changed byte, and no other one', () => {
    fc.assert(
      fc.property(LINES, fc.nat(), fc.integer({ min: 1, max: 255 }), (lines, at, change) => {
        const { bytes, starts, end } = framesOf(lines);
        const place = at % end;
        bytes.writeUInt8(bytes.readUInt8(place) ^ change, place);
        const hit = starts.findLastIndex((start) => start <= place);
        const left = lines.filter((_line, index) => index !== hit);
        assert.deepEqual(payloadsOf(bytes), left);
      }),
    );
  });

  test('reads at most so many frames, and goes on where it ended', () => {
    const lines = ['"a"', '"b"', '"c"'];
    const { bytes } = framesOf(lines);
    const first = readFrames(bytes, 0, 2);
    assert.equal(first.frames.length, 2);
    assert.deepEqual(
      readFrames(bytes, first.end).frames.map(({ payload }) => payload),
      ['"c"'],
    );
  });

  test('takes a payload that looks like a frame for a payload', () => {
    const lines = ['"GJF1"', '"GJF1GJF1GJF1"'];
    assert.deepEqual(payloadsOf(framesOf(lines).bytes), lines);
  });
});
