import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileInMemory } from '../files/spool.ts';
import { audioDurationMs } from './audio-duration.ts';
import { audioTypeOf, type AudioType } from './audio-type.ts';
import { wavHead } from './wav.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

function msOf(bytes: Buffer, type?: AudioType): Promise<number | undefined> {
  const found = type ?? audioTypeOf(bytes);
  assert.ok(found !== undefined, 'the bytes are a sound');
  return audioDurationMs(fileInMemory(bytes), found);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const second = Buffer.alloc(48_000);
const head = (bytes?: number): Buffer => wavHead({ sampleRate: 24_000 }, bytes);

// @spec stt-8
test('reads how long a wav file is, and believes no head that says more than there is', async () => {
  assert.equal(await msOf(Buffer.concat([head(48_000), second])), 1_000);
  assert.equal(await msOf(Buffer.concat([head(48_000 * 600), second])), 1_000, 'ten minutes are claimed');
  assert.equal(await msOf(Buffer.concat([head(), second])), 1_000, 'written as a stream');
  const list = Buffer.concat([latin('LIST'), Buffer.from([3, 0, 0, 0]), latin('abc\0')]);
  const whole = head(48_000);
  assert.equal(
    await msOf(Buffer.concat([whole.subarray(0, 36), list, whole.subarray(36), second])),
    1_000,
    'a chunk between',
  );
});

/** MPEG 2, layer III, 32 kbit/s, 24 kHz: 96 bytes of 24 ms. */
const frame = Buffer.concat([u32(0xff_f3_44_c0), Buffer.alloc(92)]);

test('reads how long an mp3 file is, from its rate or from the header of all frames', async () => {
  const frames = Array.from({ length: 50 }, () => frame);
  assert.equal(await msOf(Buffer.concat(frames)), 1_200);
  const tag = Buffer.concat([latin('ID3\u0004\0\0'), Buffer.from([0, 0, 1, 0]), Buffer.alloc(128)]);
  assert.equal(await msOf(Buffer.concat([tag, ...frames])), 1_200, 'behind a tag');
  const xing = Buffer.from(frame);
  Buffer.concat([latin('Xing'), u32(1), u32(1_000)]).copy(xing, 13);
  assert.equal(await msOf(Buffer.concat([xing, ...frames])), 24_000);
});

test('reads how long other files are', async () => {
  const flac = Buffer.alloc(42);
  latin('fLaC').copy(flac);
  flac.writeUInt32BE((48_000 << 12) >>> 0, 18);
  flac.writeUInt32BE(96_000, 22);
  assert.equal(await msOf(flac), 2_000);
  const opus = Buffer.alloc(200);
  latin('OggS').copy(opus);
  latin('OpusHead\u0001\u0001').copy(opus, 28);
  opus.writeUInt16LE(312, 38);
  latin('OggS').copy(opus, 100);
  opus.writeBigUInt64LE(48_312n, 106);
  assert.equal(await msOf(opus), 1_000);
  const box = (name: string, ...content: Buffer[]): Buffer => {
    const all = Buffer.concat(content);
    return Buffer.concat([u32(8 + all.length), latin(name), all]);
  };
  const mvhd = box('mvhd', u32(0), u32(0), u32(0), u32(1_000), u32(2_500), Buffer.alloc(20));
  const sound = box('mdat', Buffer.alloc(100));
  assert.equal(await msOf(Buffer.concat([box('ftyp', latin('M4A     ')), sound, box('moov', mvhd)])), 2_500);
  const webm = Buffer.concat([
    Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80, 0x2a, 0xd7, 0xb1, 0x83, 0x0f, 0x42, 0x40, 0x44, 0x89, 0x84]),
    Buffer.from(new Uint8Array(Float32Array.of(1_500).buffer).toReversed()),
  ]);
  assert.equal(await msOf(webm), 1_500);
});

test('says nothing of files that are cut or that lie', async () => {
  const sounds: readonly (readonly [AudioType, Buffer])[] = [
    ['wav', head(48_000).subarray(0, 30)],
    ['mp3', Buffer.from([0xff, 0xfb, 0x90, 0])],
    ['flac', latin('fLaC')],
    ['ogg', latin('OggS')],
    ['mp4', Buffer.concat([u32(0), latin('ftyp'), Buffer.alloc(20)])],
    ['webm', Buffer.from([0x1a, 0x45, 0xdf, 0xa3])],
    ['aac', Buffer.from([0xff, 0xf1])],
  ];
  for (const [type, bytes] of sounds) assert.equal(await msOf(bytes, type), undefined, type);
  for (const type of ['wav', 'mp3', 'flac', 'ogg', 'mp4', 'webm'] as const) {
    const junk = Buffer.from(Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31) ^ (at >> 3)));
    const ms = await msOf(junk, type);
    assert.ok(ms === undefined || ms >= 0, type);
  }
});
