import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileInMemory } from '../files/spool.ts';
import { encodeForm, type FormPart } from './form-body.ts';

async function read(parts: readonly FormPart[]): Promise<{ readonly bytes: Buffer; readonly form: FormData }> {
  const body = encodeForm(parts);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.chunks()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  assert.equal(bytes.length, body.bytes, 'the length is known before');
  const form = await new Response(bytes, { headers: { 'content-type': body.contentType } }).formData();
  return { bytes, form };
}

test('writes texts and files in their order, as any reader of forms finds them', async () => {
  const { form } = await read([
    { name: 'model', value: 'größer' },
    { name: 'file', file: fileInMemory(Buffer.from([0, 13, 10, 255])), filename: 'audio.wav', type: 'audio/wav' },
    { name: 'list[]', value: 'a' },
    { name: 'list[]', value: 'b\r\n--c' },
  ]);
  assert.deepEqual([...form.keys()], ['model', 'file', 'list[]', 'list[]']);
  assert.equal(form.get('model'), 'größer');
  assert.deepEqual(form.getAll('list[]'), ['a', 'b\r\n--c']);
  const file = form.get('file');
  if (!(file instanceof File)) throw new assert.AssertionError({ message: 'The file is no file.' });
  assert.deepEqual([file.name, file.type], ['audio.wav', 'audio/wav']);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), Buffer.from([0, 13, 10, 255]));
});

test('lets no name of a field end its header', async () => {
  const { bytes } = await read([{ name: 'a"\r\nx: y', value: '1' }]);
  assert.match(bytes.toString(), /name="a%22%0D%0Ax: y"\r\n\r\n1/);
});
