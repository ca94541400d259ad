import { open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { makeFolder } from '../../lib/files/make-folder.ts';
import { asNoRoom } from '../../lib/files/no-room.ts';

/** Stores contents as files of a folder, by ids that this gateway made. */
export interface BlobStore {
  /**
   * Writes all of the content to the disk durably, or nothing.
   * @returns the number of bytes
   * @throws NoRoomError where the disk has no room; what `chunks` throws; any other fault of the disk
   */
  write(id: string, chunks: AsyncIterable<Uint8Array>): Promise<number>;
  /** Reads the whole content; `undefined` where there is none. */
  read(id: string): Promise<Buffer | undefined>;
  /**
   * Reads the content in pieces; `undefined` where there is none.
   * @param range both ends are included. Absent: all of it
   */
  open(id: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | undefined>;
  /** Removes the content, also one that was only begun. */
  remove(id: string): Promise<void>;
}

export interface BlobStoreOptions {
  /** The folder; it is made when it is needed. */
  readonly folder: string;
  /** Makes an empty file that only its owner may read. Default: the disk's. */
  readonly create?: (file: string) => Promise<Pick<FileHandle, 'write' | 'sync' | 'close'>>;
}

const PARTIAL = '.partial';
/** Ids end in random digits: folders named after these last characters share the files evenly. */
const SHARD_CHARS = 2;

export function createBlobStore({ folder, create = createFile }: BlobStoreOptions): BlobStore {
  const shardOf = (id: string): string => join(folder, id.slice(-SHARD_CHARS));
  const fileOf = (id: string): string => join(shardOf(id), id);
  return {
    async write(id, chunks) {
      const file = fileOf(id);
      const partial = file + PARTIAL;
      try {
        await makeFolder(shardOf(id));
        const bytes = await fill(await create(partial), chunks);
        await rename(partial, file);
        await syncFolder(shardOf(id));
        return bytes;
      } catch (error) {
        await Promise.all([rm(partial, { force: true }), rm(file, { force: true })]);
        throw asNoRoom(error);
      }
    },
    read: (id) => readFile(fileOf(id)).catch(unlessMissing),
    async open(id, range) {
      const handle = await open(fileOf(id)).catch(unlessMissing);
      return handle?.createReadStream(range);
    },
    async remove(id) {
      await Promise.all([rm(fileOf(id), { force: true }), rm(fileOf(id) + PARTIAL, { force: true })]);
    },
  };
}

function createFile(file: string): Promise<FileHandle> {
  return open(file, 'wx', 0o600);
}

async function fill(
  handle: Pick<FileHandle, 'write' | 'sync' | 'close'>,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      await writeAll(handle, chunk);
      bytes += chunk.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return bytes;
}

/** Writes all of the chunk: one write may take only a part. */
async function writeAll(handle: Pick<FileHandle, 'write'>, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await handle.write(chunk, at, chunk.length - at);
    at += bytesWritten;
  }
}

/** Syncs the folder: without that a loss of power loses the name of a new file. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}
