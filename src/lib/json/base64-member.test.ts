import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Base64Member } from './base64-member.ts';

const SOUND = Buffer.from(Array.from({ length: 1_000 }, (_none, at) => (at * 7) % 256));
const ESCAPED = SOUND.toString('base64')
  .replaceAll('=', String.raw`\u003d`)
  .replaceAll('/', String.raw`\/`);
const TEXT = `{"note":"é \\"data\\":\\"AAAA\\"","parts":[{"mimeType":"audio/pcm","data" : "${ESCAPED}"},{"data":"${SOUND.subarray(0, 7).toString('base64')}"}],"usage":{"n":1}}`;

test('takes out the bytes of every such member, wherever the text is cut', () => {
  const bytes = Buffer.from(TEXT);
  for (const size of [1, 2, 3, 5, 7, 64, 1_000, bytes.length]) {
    const member = new Base64Member('data');
    const pieces: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(member.push(bytes.subarray(at, at + size)));
    assert.deepEqual(Buffer.concat(pieces), Buffer.concat([SOUND, SOUND.subarray(0, 7)]), `pieces of ${size}`);
    assert.deepEqual(JSON.parse(member.rest), {
      note: 'é "data":"AAAA"',
      parts: [{ mimeType: 'audio/pcm', data: '' }, { data: '' }],
      usage: { n: 1 },
    });
  }
});

test('keeps only the end of a long text around the bytes', () => {
  const member = new Base64Member('data');
  for (let at = 0; at < 100; at++) member.push(Buffer.alloc(10_000, 'x'));
  assert.ok(member.rest.length <= 66_000);
});
