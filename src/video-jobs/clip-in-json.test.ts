import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { clipIn, NoClipInside, TextMember } from './clip-in-json.ts';

const CLIP = Buffer.from(Array.from({ length: 20_000 }, (_, at) => (at * 31) % 256));

async function* inPieces(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += bytes) yield await Promise.resolve(all.subarray(at, at + bytes));
}

async function read(text: string, bytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of clipIn(inPieces(text, bytes), 'clip')) pieces.push(piece);
  return Buffer.concat(pieces);
}

const answer = (base64: string): string =>
  `{\n "name": "clip", "done": true, "response": { "videos": [ { "clip" : "${base64}", "mimeType": "video/mp4" } ] } }`;

suite('a clip inside JSON', () => {
  for (const bytes of [1, 3, 7, 4_096, 1_000_000])
    test(`is read in pieces of ${bytes} bytes, whatever is escaped`, async () => {
      for (const length of [0, 1, 2, 3, 19_999, 20_000]) {
        const clip = CLIP.subarray(0, length);
        const base64 = clip.toString('base64');
        assert.deepEqual(await read(answer(base64), bytes), clip);
        assert.deepEqual(await read(answer(base64.replaceAll('=', '\\u003d').replaceAll('/', '\\/')), bytes), clip);
      }
    });

  test('is refused where it breaks off, is not there, or is no base64', async () => {
    const whole = answer(CLIP.toString('base64'));
    await assert.rejects(read(whole.slice(0, 10_000), 999), NoClipInside);
    await assert.rejects(read('{"done": true, "response": {}}', 7), NoClipInside);
    await assert.rejects(read(answer('<html>'), 7), NoClipInside);
    await assert.rejects(read(`{"a":"${'x'.repeat(2_000_000)}"}`, 65_536), NoClipInside);
  });

  test('begins with the first quote of its text and not before', () => {
    const member = new TextMember('clip');
    assert.equal(member.push(Buffer.from('{"clip":')), false);
    assert.equal(member.push(Buffer.from(' null, "name": "clip", "cl')), false);
    assert.equal(member.push(Buffer.from('ip": "')), true);
  });
});
