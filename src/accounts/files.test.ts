import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { GatewayError } from '../canonical/gateway-error.ts';
import { systemClock } from '../lib/clock.ts';
import { NoRoomError } from '../lib/files/no-room.ts';
import { createBlobStore, type BlobStore } from '../store/accounts/blobs.ts';
import { openDatabase } from '../store/engine/database.ts';
import { createFileStore, type FileStore } from '../store/accounts/files.ts';
import { createFiles, type FileContent, type Files, type FilesDeps } from './files.ts';

const OWNER = { workspaceId: '00000000-0000-4000-8000-000000000001', keyHash: 'k' };
const MB = 1_048_576;

interface TestFiles {
  readonly files: Files;
  readonly store: FileStore;
  readonly blobs: BlobStore;
  /** Unix ms. */
  now: number;
  onDisk(): Promise<readonly string[]>;
}

async function openFiles(t: TestContext, changes: Partial<FilesDeps> = {}): Promise<TestFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'files-'));
  const database = await openDatabase({ path: ':memory:', clock: systemClock });
  t.after(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });
  const store = createFileStore({ database });
  const blobs = createBlobStore({ folder });
  const opened: TestFiles = {
    now: 1_800_000_000_000,
    store,
    blobs,
    files: createFiles({
      store,
      blobs,
      clock: { nowMs: () => opened.now, monotonicMs: () => 0 },
      workspaceBytesMax: MB,
      isAlone: true,
      ...changes,
    }),
    async onDisk() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    },
  };
  return opened;
}

function sending(text: string, expiresAfterMs?: number): FileContent {
  return { chunks: pieces(text), input: () => ({ filename: 'a.txt', expiresAfterMs }) };
}

async function* pieces(text: string, after: Promise<void> = Promise.resolve()): AsyncGenerator<Uint8Array> {
  await after;
  yield Buffer.from(text);
}

const refused = (status: number) => (error: unknown) => error instanceof GatewayError && error.status === status;

test('makes ids that grow with time, so that lists are in the order of uploads', async (t) => {
  const opened = await openFiles(t);
  const first = await opened.files.upload(OWNER, sending('one'));
  opened.now += 1;
  const second = await opened.files.upload(OWNER, sending('two'));
  assert.ok(first.id < second.id);
  assert.match(first.id, /^file_[0-9a-f]{32}$/);
});

test('answers 503 for a full disk, and leaves neither a row nor a file', async (t) => {
  const opened = await openFiles(t);
  const full = await openFiles(t, {
    store: opened.store,
    blobs: { ...opened.blobs, write: () => Promise.reject(new NoRoomError('full')) },
  });
  await assert.rejects(full.files.upload(OWNER, sending('one')), refused(503));
  assert.deepEqual(await opened.store.listLeftovers(10), []);
  assert.deepEqual(await opened.files.list(OWNER, { afterId: undefined, limit: 10 }), { rows: [], hasMore: false });
  assert.deepEqual(await opened.onDisk(), []);
});

// @spec file-1
test('refuses a file above the limit with 413, however it is sent, and leaves nothing of it', async (t) => {
  const opened = await openFiles(t, { fileBytesMax: 10 });
  await assert.rejects(opened.files.upload(OWNER, sending('12345678901')), refused(413));
  assert.equal((await opened.files.upload(OWNER, sending('1234567890'))).sizeBytes, 10);
  assert.equal((await opened.onDisk()).length, 1);
});

test('limits concurrent uploads, and those of one workspace to half as many', async (t) => {
  const opened = await openFiles(t);
  const rateLimitState = Promise.withResolvers<void>();
  const slow = (): FileContent => ({
    chunks: pieces('slow', rateLimitState.promise),
    input: () => ({ filename: 'slow.txt' }),
  });
  const other = { ...OWNER, workspaceId: '00000000-0000-4000-8000-000000000002' };
  const third = { ...OWNER, workspaceId: '00000000-0000-4000-8000-000000000003' };
  const under: Promise<unknown>[] = [];
  for (const owner of [OWNER, other]) {
    under.push(...Array.from({ length: 16 }, () => opened.files.upload(owner, slow())));
    await assert.rejects(opened.files.upload(owner, sending('more')), refused(429));
    if (owner === OWNER) await opened.files.upload(other, sending('another is not kept waiting'));
  }
  await assert.rejects(opened.files.upload(third, sending('more')), refused(429));
  rateLimitState.resolve();
  assert.equal((await Promise.all(under)).length, 32);
  await opened.files.upload(third, sending('more'));
});

test('stops writing a file that the workspace has no room for', async (t) => {
  let written = 0;
  const opened = await openFiles(t, { workspaceBytesMax: 100 });
  const counting = await openFiles(t, {
    store: opened.store,
    workspaceBytesMax: 100,
    blobs: {
      ...opened.blobs,
      async write(_id, chunks) {
        for await (const { length } of chunks) written += length;
        return written;
      },
    },
  });
  await opened.files.upload(OWNER, sending('a'.repeat(60)));
  const tens: FileContent = {
    chunks: (async function* tens() {
      for (let piece = 0; piece < 1_000; piece++) yield* pieces('b'.repeat(10));
    })(),
    input: () => ({ filename: 'b.txt' }),
  };
  await assert.rejects(counting.files.upload(OWNER, tens), refused(413));
  assert.equal(written, 40);
});

test('cleans up what a dead process began, and not what is under way', async (t) => {
  const opened = await openFiles(t);
  const id = `file_${'1'.repeat(32)}`;
  const row = { ...(await opened.files.upload(OWNER, sending('whole'))), id, createdAtMs: opened.now - 1 };
  await opened.store.begin(row);
  await opened.blobs.write(id, sending('half').chunks);
  const rateLimitState = Promise.withResolvers<void>();
  const under = opened.files.upload(OWNER, {
    chunks: pieces('under way', rateLimitState.promise),
    input: () => ({ filename: 'b.txt' }),
  });
  await opened.files.clearAway();
  assert.equal((await opened.onDisk()).includes(id), true, 'while something is written nobody knows whose it is');
  rateLimitState.resolve();
  await under;
  await opened.files.clearAway();
  assert.equal((await opened.onDisk()).includes(id), false);
  assert.equal((await opened.onDisk()).length, 2);
});

test('gives up begun files after an hour where other gateways run', async (t) => {
  const opened = await openFiles(t, { isAlone: false });
  const row = { ...(await opened.files.upload(OWNER, sending('whole'))), id: `file_${'2'.repeat(32)}` };
  await opened.store.begin(row);
  opened.now += 3_600_000;
  await opened.files.clearAway();
  assert.equal(await opened.store.finish(row, { bytesMax: MB, filesMax: 10 }), 'stored');
  await opened.store.begin({ ...row, id: `file_${'3'.repeat(32)}`, createdAtMs: opened.now - 3_600_001 });
  await opened.files.clearAway();
  const late = { ...row, id: `file_${'3'.repeat(32)}` };
  assert.equal(await opened.store.finish(late, { bytesMax: MB, filesMax: 10 }), 'gone');
});

// @spec file-8
test('hides an expired file at once, and removes its bytes with the next cleanup', async (t) => {
  const opened = await openFiles(t);
  const { id } = await opened.files.upload(OWNER, sending('short', 1_000));
  opened.now += 999;
  assert.equal((await opened.files.get(OWNER, id)).id, id);
  opened.now += 1;
  await assert.rejects(opened.files.get(OWNER, id), refused(404));
  assert.deepEqual(await opened.onDisk(), [id]);
  await opened.files.clearAway();
  assert.deepEqual(await opened.onDisk(), []);
  assert.deepEqual(await opened.store.usage(OWNER.workspaceId), { bytes: 0, files: 0 });
});

test('deletes bytes later that cannot be deleted now, and hides the file meanwhile', async (t) => {
  const opened = await openFiles(t);
  const { id } = await opened.files.upload(OWNER, sending('stuck'));
  const broken = await openFiles(t, {
    store: opened.store,
    blobs: { ...opened.blobs, remove: () => Promise.reject(new Error('the disk is read-only')) },
  });
  assert.equal((await broken.files.delete(OWNER, id)).id, id);
  await assert.rejects(opened.files.get(OWNER, id), refused(404));
  assert.deepEqual(await opened.onDisk(), [id]);
  await opened.files.clearAway();
  assert.deepEqual(await opened.onDisk(), []);
});

test('shows a name as it was sent, without a path', async (t) => {
  const { files } = await openFiles(t);
  const upload = (filename: string) => files.upload(OWNER, { ...sending('one'), input: () => ({ filename }) });
  for (const name of [
    '',
    ' ',
    'a/b.txt',
    'a\\b.txt',
    'a\nb.txt',
    'a\u202egpj.exe',
    'a\u2067b',
    '\ud800',
    'a'.repeat(256),
  ])
    await assert.rejects(upload(name), refused(400), JSON.stringify(name));
  for (const name of ['a"b.txt', 'Ärger 👨‍👩‍👧.txt', 'تقرير.txt', '..', 'a'.repeat(255)])
    assert.equal((await upload(name)).filename, name);
});
