import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkBase64Picture, toBase64 } from './base64-picture.ts';
import { pictureSizeOf } from './picture-size.ts';
import { pictureTypeOf, type PictureType } from './picture-type.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const be16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const le16 = (value: number): Buffer => Buffer.from([value & 0xff, value >> 8]);
const be32 = (value: number): Buffer => Buffer.concat([be16(value >>> 16), be16(value & 0xff_ff)]);
const le24 = (value: number): Buffer => Buffer.from([value & 0xff, (value >> 8) & 0xff, value >> 16]);

const PNG = Buffer.concat([
  latin1('\u0089PNG\r\n\u001a\n'),
  be32(13),
  latin1('IHDR'),
  be32(640),
  be32(480),
  latin1('\b\u0006\0\0\0'),
]);
/** A profile of 300 bytes stands before the frame, and a table that no frame is. */
const JPEG = Buffer.concat([
  latin1('\u00ff\u00d8'),
  latin1('\u00ff\u00e2'),
  be16(302),
  Buffer.alloc(300),
  latin1('\u00ff\u00c4'),
  be16(4),
  Buffer.alloc(2),
  latin1('\u00ff\u00ff\u00c2'),
  be16(17),
  Buffer.from([8]),
  be16(480),
  be16(640),
  Buffer.alloc(10),
]);
const riff = (chunk: string, data: Buffer): Buffer =>
  Buffer.concat([latin1('RIFF\0\0\0\0WEBP'), latin1(chunk), latin1('\0\0\0\0'), data, Buffer.alloc(20)]);
const CASES: readonly (readonly [string, PictureType, Buffer])[] = [
  ['png', 'png', PNG],
  ['jpeg', 'jpeg', JPEG],
  ['gif', 'gif', Buffer.concat([latin1('GIF89a'), le16(640), le16(480)])],
  ['webp with an extended head', 'webp', riff('VP8X', Buffer.concat([Buffer.alloc(4), le24(639), le24(479)]))],
  [
    'lossy webp',
    'webp',
    riff('VP8 ', Buffer.concat([Buffer.alloc(3), latin1('\u009d\u0001\u002a'), le16(640), le16(480)])),
  ],
  ['lossless webp', 'webp', riff('VP8L', Buffer.concat([latin1('\u002f'), Buffer.from([0x7f, 0xc2, 0x77, 0x00])]))],
  [
    'avif, whose tiles are smaller',
    'avif',
    Buffer.concat([
      latin1('\0\0\0\u001cftypavif'),
      latin1('ispe\0\0\0\0'),
      be32(64),
      be32(64),
      latin1('ispe\0\0\0\0'),
      be32(640),
      be32(480),
    ]),
  ],
];

describe('pictures by their first bytes', () => {
  for (const [name, type, bytes] of CASES)
    test(`finds the type and the size of ${name}`, () => {
      assert.equal(pictureTypeOf(bytes), type);
      assert.deepEqual(pictureSizeOf(bytes, type), { width: 640, height: 480 });
    });

  test('knows drawings, which have no pixels', () => {
    for (const text of [
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      '\uFEFF<?xml version="1.0"?>\n<!-- made by hand --><!DOCTYPE svg PUBLIC "x">\n<svg>',
    ])
      assert.equal(pictureTypeOf(Buffer.from(text)), 'svg', text);
    assert.equal(pictureSizeOf(Buffer.from('<svg>'), 'svg'), undefined);
  });

  test('knows nothing of what is no picture', () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('<html><svg>'),
      Buffer.from('%PDF-1.7'),
      latin1('\0\0\0\u001cftypmp42'),
    ])
      assert.equal(pictureTypeOf(bytes), undefined);
  });

  test('finds no size in a head that is cut anywhere', () => {
    for (const [name, type, bytes] of CASES)
      for (let length = 0; length < bytes.length; length++) {
        const size = pictureSizeOf(bytes.subarray(0, length), type);
        assert.ok(size === undefined || (size.width <= 640 && size.height <= 480), `${name}, ${length}`);
      }
  });

  test('ends the walk over segments that lead nowhere', () => {
    const endless = Buffer.concat([
      latin1('\u00ff\u00d8'),
      ...Array.from({ length: 20_000 }, () => latin1('\u00ff\u0001')),
    ]);
    assert.equal(pictureSizeOf(endless, 'jpeg'), undefined);
  });
});

describe('base64 of pictures', () => {
  const large = Buffer.concat([PNG, Buffer.alloc(3_000_001, 7)]);
  const text = Buffer.from(large.toString('base64'), 'latin1');

  test('is checked in pieces, with others between them', async () => {
    let turns = 0;
    const facts = await checkBase64Picture(text, async () => void turns++);
    assert.deepEqual(facts, { type: 'png', size: { width: 640, height: 480 }, bytes: large.length });
    assert.equal(turns, 4);
  });

  test('is none with a wrong sign in any piece, with a sign too many, or of no picture', async () => {
    for (const at of [40, text.length - 10]) {
      const broken = Buffer.from(text);
      broken[at] = 0x2a;
      assert.equal(await checkBase64Picture(broken), undefined, `${at}`);
    }
    const plain = PNG.toString('base64').replace(/=+$/, '');
    assert.ok(await checkBase64Picture(Buffer.from(plain)), 'padding may be left out');
    const tooMany = `${plain.slice(0, plain.length - (plain.length % 4))}A`;
    assert.equal(await checkBase64Picture(Buffer.from(tooMany)), undefined);
    assert.equal(await checkBase64Picture(Buffer.from('PGh0bWw+')), undefined);
    assert.equal(await checkBase64Picture(Buffer.alloc(0)), undefined);
  });

  test('has its size behind a profile of megabytes, and is none without a size', async () => {
    const segment = Buffer.concat([latin1('\u00ff\u00e2\u00ff\u00ff'), Buffer.alloc(65_533)]);
    const long = Buffer.concat([
      latin1('\u00ff\u00d8'),
      ...Array.from({ length: 40 }, () => segment),
      JPEG.subarray(2),
    ]);
    const facts = await checkBase64Picture(Buffer.from(long.toString('base64')));
    assert.deepEqual(facts, { type: 'jpeg', size: { width: 640, height: 480 }, bytes: long.length });
    const headless = long.subarray(0, 2_000_000).toString('base64');
    assert.equal(await checkBase64Picture(Buffer.from(headless)), undefined);
  });

  test('is written without a text of it', () => {
    assert.ok(toBase64(large).equals(text));
    for (const bytes of [0, 1, 2, 3, 4]) {
      const some = Buffer.alloc(bytes, 9);
      assert.equal(toBase64(some).toString(), some.toString('base64'));
    }
  });
});
