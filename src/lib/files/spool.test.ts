import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { NoRoomError } from './no-room.ts';
import { createSpool, SPOOLED_IN_MEMORY_BYTES, type ByteSource, type SpooledFile, type Spool } from './spool.ts';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'spool-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Bytes that differ from place to place. */
function pattern(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => (at * 7 + (at >> 8)) & 0xff));
}

async function keep(spool: Spool, content: Buffer, pieceBytes = 60_000): Promise<SpooledFile> {
  const writer = spool.create();
  for (let at = 0; at < content.length; at += pieceBytes) await writer.write(content.subarray(at, at + pieceBytes));
  return writer.end();
}

async function readAll(source: ByteSource): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source.chunks()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

for (const bytes of [0, 10, SPOOLED_IN_MEMORY_BYTES, SPOOLED_IN_MEMORY_BYTES + 1, 1_000_000])
  test(`gives back a file of ${bytes} bytes as often as it is read`, async (t) => {
    const spool = createSpool(await makeFolder(t));
    const content = pattern(bytes);
    const file = await keep(spool, content);
    assert.equal(file.bytes, bytes);
    assert.deepEqual(await readAll(file), content);
    assert.deepEqual(await readAll(file), content, 'once more');
    assert.deepEqual(file.head, content.subarray(0, SPOOLED_IN_MEMORY_BYTES));
    assert.deepEqual(await file.read(5, 20), content.subarray(5, 25));
    assert.deepEqual(await file.read(bytes - 3, 20), content.subarray(Math.max(0, bytes - 3)), 'shorter at its end');
    file.close();
    file.close();
    assert.equal(spool.bytes, 0);
  });

test('keeps small files in memory, and leaves no name of others on the disk', async (t) => {
  const folder = await makeFolder(t);
  const spool = createSpool(folder);
  const small = await keep(spool, pattern(1_000));
  assert.equal(spool.bytes, 0);
  const large = await keep(spool, pattern(300_000));
  assert.equal(spool.bytes, 300_000);
  assert.deepEqual(await readdir(folder), []);
  small.close();
  large.close();
});

test('refuses what goes beyond its room, and has it again when files are closed', async (t) => {
  const spool = createSpool(await makeFolder(t), 500_000);
  const first = await keep(spool, pattern(300_000));
  const writer = spool.create();
  await assert.rejects(writer.write(pattern(300_000)), NoRoomError);
  writer.discard();
  assert.equal(spool.bytes, 300_000);
  first.close();
  const second = await keep(spool, pattern(300_000));
  second.close();
});

test('removes at its start what others left, and nothing else', async (t) => {
  const folder = await makeFolder(t);
  await writeFile(join(folder, 'a.spooled'), 'x');
  await writeFile(join(folder, 'notes.txt'), 'x');
  await createSpool(folder).clear();
  assert.deepEqual(await readdir(folder), ['notes.txt']);
  await createSpool(join(folder, 'missing')).clear();
});

test('takes back a file that is dropped while it is written', async (t) => {
  const spool = createSpool(await makeFolder(t));
  const writer = spool.create();
  const writing = writer.write(pattern(300_000));
  writer.discard();
  await writing;
  assert.equal(spool.bytes, 0);
});
