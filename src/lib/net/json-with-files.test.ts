import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileInMemory } from '../files/spool.ts';
import { encodeJsonWithFiles } from './json-with-files.ts';

async function textOf(source: ReturnType<typeof encodeJsonWithFiles>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('sends files as base64 in JSON, of the length that it says, as often as it is sent', async () => {
  const contents = [0, 1, 2, 3, 65_537].map((bytes) => Buffer.alloc(bytes, 'ab"\\'));
  const source = encodeJsonWithFiles((place) => ({
    before: 'a "quoted" text',
    files: contents.map((content) => ({ url: `data:image/png;base64,${place(fileInMemory(content))}`, n: 1 })),
  }));
  for (let time = 0; time < 2; time++) {
    const text = await textOf(source);
    assert.equal(Buffer.byteLength(text), source.bytes);
    assert.deepEqual(JSON.parse(text), {
      before: 'a "quoted" text',
      files: contents.map((content) => ({ url: `data:image/png;base64,${content.toString('base64')}`, n: 1 })),
    });
  }
});

test('joins chunks that are no whole groups of three bytes', async () => {
  const chunks = [Buffer.from('a'), Buffer.from('bcde'), Buffer.from('f'), Buffer.from('gh')];
  const file = {
    bytes: 8,
    async *chunks() {
      for (const chunk of chunks) yield await Promise.resolve(chunk);
    },
  };
  const text = await textOf(encodeJsonWithFiles((place) => ({ data: place(file) })));
  assert.equal(text, JSON.stringify({ data: Buffer.from('abcdefgh').toString('base64') }));
});
