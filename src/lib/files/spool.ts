import { randomUUID } from 'node:crypto';
import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { asNoRoom, NoRoomError } from './no-room.ts';

/** Bytes whose number is known and that can be read from their beginning as often as needed. */
export interface ByteSource {
  readonly bytes: number;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A file that a request brought, kept until the request is over. */
export interface SpooledFile extends ByteSource {
  /** Its beginning: all of a small file. */
  readonly head: Buffer;
  /** A part of it, shorter where the file ends. */
  read(from: number, bytes: number): Promise<Buffer>;
  /** The file is not needed any more. */
  close(): void;
}

/** Takes the bytes of one file as they come. */
export interface SpoolWriter {
  /** @throws NoRoomError where there is no room for them on the disk */
  write(chunk: Uint8Array): Promise<void>;
  end(): SpooledFile;
  /** What came of the file is not needed. */
  discard(): void;
}

/** Keeps files of requests under way: small ones in memory, others in files without a name. */
export interface Spool {
  create(): SpoolWriter;
  /** Bytes that it holds on the disk. */
  readonly bytes: number;
  /** Removes what processes left behind that ended between making a file and removing its name. */
  clear(): Promise<void>;
}

/** What is kept of a file in memory; all of a file that is not larger. */
export const SPOOLED_IN_MEMORY_BYTES = 262_144;
/** Files of all requests of a process together. */
const SPOOL_BYTES_MAX = 4_294_967_296;
const READ_BYTES = 65_536;
const SUFFIX = '.spooled';

/** @param bytesMax for tests */
export function createSpool(folder: string, bytesMax = SPOOL_BYTES_MAX): Spool {
  const disk = new SpoolDisk(folder, bytesMax);
  return {
    create: () => new Writer(disk),
    get bytes() {
      return disk.bytes;
    },
    async clear() {
      const names = await readdir(folder).catch((): string[] => []);
      const left = names.filter((name) => name.endsWith(SUFFIX));
      await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}

/** A file in memory, with the same face. */
export function fileInMemory(content: Buffer): SpooledFile {
  return {
    bytes: content.length,
    head: content.subarray(0, SPOOLED_IN_MEMORY_BYTES),
    async *chunks() {
      yield await Promise.resolve(content);
    },
    read: (from, bytes) => Promise.resolve(content.subarray(from, from + bytes)),
    close: () => undefined,
  };
}

/** A class because all files of a process count together. */
class SpoolDisk {
  bytes = 0;
  readonly #folder: string;
  readonly #bytesMax: number;

  constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
  }

  take(bytes: number): void {
    if (this.bytes + bytes > this.#bytesMax) throw new NoRoomError('The spool is full.');
    this.bytes += bytes;
  }

  /** A file that only its owner may read, and that no name leads to. */
  async open(): Promise<FileHandle> {
    await makeFolder(this.#folder);
    const path = join(this.#folder, randomUUID() + SUFFIX);
    const handle = await open(path, 'wx+', 0o600);
    await rm(path, { force: true });
    return handle;
  }
}

/** A class because it lives as long as its file arrives. */
class Writer implements SpoolWriter {
  readonly #disk: SpoolDisk;
  #chunks: Uint8Array[] = [];
  #head = Buffer.alloc(0);
  #bytes = 0;
  #onDisk = 0;
  #handle: FileHandle | undefined;
  #isOver = false;

  constructor(disk: SpoolDisk) {
    this.#disk = disk;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#handle === undefined && this.#bytes <= SPOOLED_IN_MEMORY_BYTES) {
      this.#chunks.push(chunk);
      return;
    }
    try {
      if (this.#handle === undefined) await this.#openFile(chunk);
      else await this.#writeAll(this.#handle, chunk);
    } catch (error) {
      throw asNoRoom(error);
    }
  }

  async #openFile(chunk: Uint8Array): Promise<void> {
    const before = Buffer.concat([...this.#chunks, chunk]);
    this.#chunks = [];
    this.#head = Buffer.from(before.subarray(0, SPOOLED_IN_MEMORY_BYTES));
    const handle = await this.#disk.open();
    if (this.#isOver) await handle.close();
    else {
      this.#handle = handle;
      await this.#writeAll(handle, before);
    }
  }

  /** One write may take only a part. */
  async #writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
    this.#disk.take(chunk.length);
    this.#onDisk += chunk.length;
    for (let at = 0; at < chunk.length;) {
      const { bytesWritten } = await handle.write(chunk, at, chunk.length - at);
      at += bytesWritten;
    }
  }

  end(): SpooledFile {
    const handle = this.#handle;
    if (handle === undefined) return fileInMemory(Buffer.concat(this.#chunks));
    return {
      bytes: this.#bytes,
      head: this.#head,
      chunks: () => readChunks(handle),
      read: (from, bytes) => readPart(handle, from, bytes),
      close: () => this.discard(),
    };
  }

  discard(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#chunks = [];
    this.#disk.bytes -= this.#onDisk;
    // Reads that are under way end before; nothing else uses the file, and no name leads to it.
    this.#handle?.close().catch(() => undefined);
  }
}

async function* readChunks(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function readPart(handle: FileHandle, from: number, bytes: number): Promise<Buffer> {
  const part = Buffer.alloc(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await handle.read(part, filled, bytes - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return part.subarray(0, filled);
}
