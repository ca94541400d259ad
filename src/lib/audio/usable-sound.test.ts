import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isUsable, type SoundFormat } from './usable-sound.ts';
import { wavHead } from './wav.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const mp3 = Buffer.alloc(96);
mp3.writeUInt32BE(0xff_f3_44_c0);
const page = Buffer.concat([latin('OggS'), Buffer.alloc(22), Buffer.from([1, 10]), Buffer.alloc(10)]);
const adts = Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc, 0, 0]);

/** Each is usable as a whole, and not without its last byte. */
const SOUNDS: readonly (readonly [SoundFormat, string, Buffer])[] = [
  ['pcm', 'a sample', Buffer.from([1, 2])],
  ['mp3', 'a frame', mp3],
  [
    'mp3',
    'a frame behind a tag',
    Buffer.concat([latin('ID3\u0004\0\0'), Buffer.from([0, 0, 0, 5]), Buffer.alloc(5), mp3]),
  ],
  ['wav', 'a sample', Buffer.concat([wavHead({ sampleRate: 24_000 }), Buffer.from([1, 2])])],
  ['opus', 'a page behind two heads', Buffer.concat([page, page, page])],
  [
    'flac',
    'a frame behind metadata',
    Buffer.concat([
      latin('fLaC'),
      Buffer.from([0, 0, 0, 34]),
      Buffer.alloc(34),
      Buffer.from([0x84, 0, 0, 2, 1, 1]),
      Buffer.alloc(16),
    ]),
  ],
  ['aac', 'a frame', adts],
];
for (const [format, what, bytes] of SOUNDS)
  // @spec tts-5
  test(`knows when ${format} can be heard: ${what}`, () => {
    for (let length = 0; length < bytes.length; length++)
      assert.equal(isUsable(bytes.subarray(0, length), format), false, `${length} bytes`);
    assert.equal(isUsable(bytes, format), true);
  });

test('hears nothing in what is no sound', () => {
  for (const format of ['mp3', 'wav', 'opus', 'flac', 'aac'] as const)
    assert.equal(isUsable(Buffer.from('{"error":"no"}'.repeat(100)), format), false, format);
});
