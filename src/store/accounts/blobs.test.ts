import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { NoRoomError } from '../../lib/files/no-room.ts';
import { createBlobStore } from './blobs.ts';

const ID = 'file_0123';

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'blobs-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function* pieces(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
  await Promise.resolve();
}

test('reads what was written, whole and in pieces, until it is removed', async (t) => {
  const folder = await makeFolder(t);
  const blobs = createBlobStore({ folder });
  assert.equal(await blobs.write(ID, pieces('one ', '', 'two')), 7);
  assert.equal(String(await blobs.read(ID)), 'one two');
  const stream = await blobs.open(ID);
  assert.ok(stream instanceof Readable);
  assert.equal(await text(stream), 'one two');
  await blobs.remove(ID);
  await blobs.remove(ID);
  assert.equal(await blobs.read(ID), undefined);
  assert.equal(await blobs.open(ID), undefined);
  assert.deepEqual(await filesIn(folder), []);
});

test('lets only the owner read a file', async (t) => {
  const folder = await makeFolder(t);
  await createBlobStore({ folder }).write(ID, pieces('secret'));
  const handle = await open(join(folder, '23', ID));
  t.after(() => handle.close());
  assert.equal((await handle.stat()).mode & 0o777, 0o600);
});

test('leaves nothing of an upload that breaks off', async (t) => {
  const folder = await makeFolder(t);
  const broken = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    await Promise.resolve();
    throw new Error('hung up');
  };
  await assert.rejects(createBlobStore({ folder }).write(ID, broken()), /hung up/);
  assert.deepEqual(await filesIn(folder), []);
});

for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG'])
  test(`reports no room when the disk says ${code}, and leaves nothing on it`, async (t) => {
    const folder = await makeFolder(t);
    const blobs = createBlobStore({
      folder,
      async create(file) {
        const handle = await open(file, 'wx');
        let writes = 0;
        return {
          sync: () => handle.sync(),
          close: () => handle.close(),
          write(chunk: Uint8Array, at: number, length: number) {
            if (++writes > 2) throw Object.assign(new Error('no'), { code });
            // A full disk often takes a part of the bytes first.
            return handle.write(chunk, at, Math.min(length, 2));
          },
        } as Awaited<ReturnType<typeof open>>;
      },
    });
    await assert.rejects(blobs.write(ID, pieces('abcdefgh')), NoRoomError);
    assert.deepEqual(await filesIn(folder), []);
  });

test('writes all of a chunk that the disk takes in parts', async (t) => {
  const folder = await makeFolder(t);
  const blobs = createBlobStore({
    folder,
    async create(file) {
      const handle = await open(file, 'wx');
      const write = (chunk: Uint8Array, at: number, length: number) => handle.write(chunk, at, Math.min(length, 3));
      return { write, sync: () => handle.sync(), close: () => handle.close() } as Awaited<ReturnType<typeof open>>;
    },
  });
  assert.equal(await blobs.write(ID, pieces('abcdefgh', 'ijk')), 11);
  assert.equal(String(await blobs.read(ID)), 'abcdefghijk');
});
