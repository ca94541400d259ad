import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { isOwnFileId, type FileOwner, type StoredFile, type StoredFiles } from '../canonical/tools/stored-files.ts';
import type { Clock } from '../lib/clock.ts';
import { createFileTypeFinder } from '../lib/files/file-type.ts';
import { NoRoomError } from '../lib/files/no-room.ts';
import type { BlobStore } from '../store/accounts/blobs.ts';
import type { FileRow } from '../resources/files.ts';
import type { FileStore } from '../store/accounts/files.ts';

/** The record of a file, without its content. */
export type FileRecord = FileRow;

/** The description that an uploading caller sends. */
export interface FileInput {
  readonly filename: string;
  readonly purpose?: string | undefined;
  /** Counted from now. */
  readonly expiresAfterMs?: number | undefined;
}

export interface FileWindow {
  readonly afterId: string | undefined;
  readonly limit: number;
  /** Only files with this purpose. */
  readonly purpose?: string | undefined;
}

export interface FilePage {
  readonly rows: readonly FileRecord[];
  readonly hasMore: boolean;
}

/**
 * Files that callers stored to refer to them later. Each file belongs to a workspace, and is invisible outside of it.
 */
export interface Files extends StoredFiles {
  /**
   * @param content the bytes, and the description that is known once they have come
   * @throws GatewayError 400 for an empty file or another type, 413 for too much, 429, 503 without room on the disk
   */
  upload(owner: FileOwner, content: FileContent): Promise<FileRecord>;
  /**
   * Stores what was made for a workspace, of a type that uploads may not have where that is named.
   * @throws GatewayError 400 for an empty file or, where its type is to be found, another type, 413 for too much, 429, 503 without room on the disk; what `chunks` throws
   */
  keep(owner: FileOwner, file: KeptFile): Promise<FileRecord>;
  /** @throws GatewayError 404 */
  get(owner: FileOwner, id: string): Promise<FileRecord>;
  /** Lists the oldest first. @throws GatewayError 400 for an `afterId` that is no id */
  list(owner: FileOwner, window: FileWindow): Promise<FilePage>;
  /** @throws GatewayError 404 */
  delete(owner: FileOwner, id: string): Promise<FileRecord>;
  /** @throws GatewayError 400 for a file that was uploaded, 404, 503 */
  download(
    owner: FileOwner,
    id: string,
    range?: ByteRange,
  ): Promise<{ readonly file: FileRecord; readonly content: Readable }>;
  /** The bytes of any file, for what stays on this gateway. @throws GatewayError 404, 503 */
  open(owner: FileOwner, id: string): Promise<{ readonly file: FileRecord; readonly content: Readable }>;
  /**
   * Cleans up files that were begun and never finished, that expired, or that were deleted. Returns whether there is
   * more to do.
   */
  clearAway(): Promise<boolean>;
}

/** A file as it arrives: some of its description may follow its bytes. */
export interface FileContent {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called once all chunks have come. @throws GatewayError 400 */
  readonly input: () => FileInput;
  /** Absent: it is found from the bytes. */
  readonly mimeType?: string;
}

/** A file that was made here. */
export interface KeptFile extends FileInput {
  /** Absent: it is found from the bytes. */
  readonly mimeType?: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface FilesDeps {
  readonly store: FileStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** The size of all files of a workspace. */
  readonly workspaceBytesMax: number;
  readonly fileBytesMax?: number;
  /** Reports a full disk to the operator. */
  readonly onDiskFull?: (error: Error) => void;
  /** No other process writes files of this database: a begun file that is not under way here was abandoned. */
  readonly isAlone: boolean;
}

/** @spec file-1 */
const FILE_BYTES_MAX = 100 * 1_024 * 1_024;
const FILES_PER_WORKSPACE_MAX = 100_000;
const UPLOADS_AT_ONCE_MAX = 32;
/** Slow uploads of one workspace must not keep other workspaces from uploading. */
const UPLOADS_OF_WORKSPACE_MAX = 16;
/** Longer than any upload may take. */
const WRITING_MS_MAX = 3_600_000;
const CLEAR_AT_ONCE_MAX = 200;
const FILENAME_CHARS_MAX = 255;
/** A full disk may have been cleaned up by then; an earlier retry is pointless. */
const RETRY_AFTER_MS = 60_000;
/** Other uploads may have finished by then. */
const BUSY_RETRY_AFTER_MS = 1_000;

export function createFiles(deps: FilesDeps): Files {
  return new WorkspaceFiles(deps);
}

/** A class, because it keeps the uploads that are under way. */
class WorkspaceFiles implements Files {
  readonly #deps: FilesDeps;
  readonly #fileBytesMax: number;
  /** The ids of files that are being written, with the workspace of each. */
  readonly #writing = new Map<string, string>();

  constructor(deps: FilesDeps) {
    this.#deps = deps;
    this.#fileBytesMax = deps.fileBytesMax ?? FILE_BYTES_MAX;
  }

  async upload(owner: FileOwner, content: FileContent): Promise<FileRecord> {
    return this.#store(owner, content, false);
  }

  async write(owner: FileOwner, filename: string, text: string): Promise<StoredFile> {
    const chunks = inPieces(Buffer.from(text));
    return this.#store(owner, { chunks, input: () => ({ filename }) }, true);
  }

  async keep(owner: FileOwner, { chunks, mimeType, ...input }: KeptFile): Promise<FileRecord> {
    return this.#store(owner, { chunks, ...(mimeType !== undefined && { mimeType }), input: () => input }, true);
  }

  async #store(owner: FileOwner, content: FileContent, madeHere: boolean): Promise<FileRecord> {
    const own = [...this.#writing.values()].filter((workspaceId) => workspaceId === owner.workspaceId);
    if (own.length >= UPLOADS_OF_WORKSPACE_MAX) throw busy(`${UPLOADS_OF_WORKSPACE_MAX} files of a workspace`);
    if (this.#writing.size >= UPLOADS_AT_ONCE_MAX) throw busy(`${UPLOADS_AT_ONCE_MAX} files`);
    const draft = draftFile(owner, this.#deps.clock.nowMs(), madeHere);
    this.#writing.set(draft.id, draft.workspaceId);
    try {
      return await this.#write(draft, content);
    } catch (error) {
      await this.#undo(draft.id);
      if (!(error instanceof NoRoomError)) throw error;
      this.#deps.onDiskFull?.(error);
      throw diskFull(error);
    } finally {
      this.#writing.delete(draft.id);
    }
  }

  /** Writes the row first: a process that dies leaves a row that says what to clean up. */
  async #write(draft: FileRecord, { chunks, input, mimeType }: FileContent): Promise<FileRecord> {
    const { store, blobs, workspaceBytesMax: bytesMax } = this.#deps;
    const { bytes: used } = await store.usage(draft.workspaceId);
    if (used >= bytesMax) throw noRoomLeft(bytesMax);
    await store.begin(draft);
    const left = bytesMax - used;
    const counted = new CountedBytes(chunks, {
      bytesMax: Math.min(this.#fileBytesMax, left),
      tooMany: () => (left < this.#fileBytesMax ? noRoomLeft(bytesMax) : tooLarge(this.#fileBytesMax)),
    });
    const sizeBytes = await blobs.write(draft.id, counted);
    const row = finishedFile(draft, input(), mimeType ?? counted.mimeType(), sizeBytes);
    const outcome = await store.finish(row, { bytesMax, filesMax: FILES_PER_WORKSPACE_MAX });
    if (outcome === 'full') throw noRoomLeft(bytesMax);
    if (outcome === 'gone') throw new GatewayError('timeout', 'The file arrived too slowly.', { status: 408 });
    return row;
  }

  /** Removes a failed upload; what cannot be removed now is cleaned up later. */
  async #undo(id: string): Promise<void> {
    const { store, blobs } = this.#deps;
    try {
      await store.abandon(id);
      await blobs.remove(id);
      await store.forget([id]);
    } catch {
      // The row still says that the file was begun.
    }
  }

  async get({ workspaceId }: FileOwner, id: string): Promise<FileRecord> {
    const { store, clock } = this.#deps;
    const found = isOwnFileId(id) ? await store.find(workspaceId, id, clock.nowMs()) : undefined;
    if (found === undefined) throw noSuchFile();
    return found;
  }

  async list({ workspaceId }: FileOwner, { afterId, limit, purpose }: FileWindow): Promise<FilePage> {
    const { store, clock } = this.#deps;
    const wanted = { afterId, limit: limit + 1, ...(purpose !== undefined && { purpose }) };
    const rows = await store.list(workspaceId, clock.nowMs(), wanted);
    return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  async delete(owner: FileOwner, id: string): Promise<FileRecord> {
    const { store, blobs } = this.#deps;
    const file = await this.get(owner, id);
    if (!(await store.remove(owner.workspaceId, id))) throw noSuchFile();
    try {
      await blobs.remove(id);
      await store.forget([id]);
    } catch {
      // The file is hidden already, and the next cleanup removes its bytes.
    }
    return file;
  }

  async download(
    owner: FileOwner,
    id: string,
    range?: ByteRange,
  ): Promise<{ readonly file: FileRecord; readonly content: Readable }> {
    const file = await this.get(owner, id);
    if (!file.madeHere)
      throw new GatewayError(
        'invalid_request',
        'Only files that a tool made can be downloaded; this one was uploaded.',
      );
    return { file, content: await this.#contentOf(id, range) };
  }

  async open(owner: FileOwner, id: string): Promise<{ readonly file: FileRecord; readonly content: Readable }> {
    const file = await this.get(owner, id);
    return { file, content: await this.#contentOf(id) };
  }

  async #contentOf(id: string, range?: ByteRange): Promise<Readable> {
    const content = await this.#deps.blobs.open(id, range);
    if (content === undefined) throw notHere();
    return content;
  }

  async search({ workspaceId }: FileOwner, nameHas: string | undefined, limit: number): Promise<readonly StoredFile[]> {
    const { store, clock } = this.#deps;
    const named = nameHas === undefined ? {} : { nameHas };
    return store.list(workspaceId, clock.nowMs(), { afterId: undefined, limit, ...named });
  }

  async find({ workspaceId }: FileOwner, id: string): Promise<StoredFile | undefined> {
    const { store, clock } = this.#deps;
    return isOwnFileId(id) ? store.find(workspaceId, id, clock.nowMs()) : undefined;
  }

  async findByName({ workspaceId }: FileOwner, filename: string): Promise<StoredFile | undefined> {
    const { store, clock } = this.#deps;
    return store.findByName(workspaceId, filename, clock.nowMs());
  }

  async read({ id }: StoredFile): Promise<Uint8Array> {
    const content = await this.#deps.blobs.read(id);
    if (content === undefined) throw notHere();
    return content;
  }

  async clearAway(): Promise<boolean> {
    const { store, blobs, clock, isAlone } = this.#deps;
    const nowMs = clock.nowMs();
    // Beside other gateways, a begun file may be under way in any of them.
    const begunBeforeMs = isAlone && this.#writing.size === 0 ? nowMs : nowMs - WRITING_MS_MAX;
    const givenUp = await store.giveUp(nowMs, begunBeforeMs, CLEAR_AT_ONCE_MAX);
    const ids = await store.listLeftovers(CLEAR_AT_ONCE_MAX);
    for (const id of ids) await blobs.remove(id);
    await store.forget(ids);
    return Math.max(givenUp, ids.length) >= CLEAR_AT_ONCE_MAX;
  }
}

interface ByteBound {
  readonly bytesMax: number;
  readonly tooMany: () => GatewayError;
}

/** Counts bytes on their way to the disk. */
class CountedBytes implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #bound: ByteBound;
  readonly #type = createFileTypeFinder();
  #bytes = 0;

  constructor(chunks: AsyncIterable<Uint8Array>, bound: ByteBound) {
    this.#chunks = chunks;
    this.#bound = bound;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#chunks) {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#bound.bytesMax) throw this.#bound.tooMany();
      this.#type.push(chunk);
      yield chunk;
    }
    if (this.#bytes === 0) throw invalid('file', 'is empty');
  }

  /** @throws GatewayError 400 for a type that is not taken */
  mimeType(): string {
    const type = this.#type.end();
    if (type === undefined) throw invalid('file', TYPES_TAKEN);
    return type;
  }
}

const TYPES_TAKEN =
  'is none of the types that are taken: PDF, PNG, JPEG, GIF, WebP, DOCX, XLSX, PPTX, MP3, WAV, FLAC, OGG, and text in UTF-8';

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
  await Promise.resolve();
}

function draftFile({ workspaceId, keyHash }: FileOwner, nowMs: number, madeHere: boolean): FileRecord {
  return {
    id: newFileId(nowMs),
    workspaceId,
    filename: '',
    mimeType: '',
    sizeBytes: 0,
    madeHere,
    purpose: madeHere ? 'assistants_output' : 'user_data',
    keyHash,
    createdAtMs: nowMs,
    expiresAtMs: null,
  };
}

function finishedFile(
  draft: FileRecord,
  { filename, purpose, expiresAfterMs }: FileInput,
  mimeType: string,
  sizeBytes: number,
): FileRecord {
  return {
    ...draft,
    filename: checkName(filename),
    purpose: purpose ?? draft.purpose,
    mimeType,
    sizeBytes,
    expiresAtMs: expiresAfterMs === undefined ? null : draft.createdAtMs + expiresAfterMs,
  };
}

/** Makes an id that grows with time, so that the order of ids is the order of uploads. */
function newFileId(nowMs: number): string {
  return `file_${Math.floor(nowMs).toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
}

/** Includes the marks that reverse the order of letters: a name that is shown as `exe.png` may end differently. */
const UNSHOWN = /[\p{Cc}\p{Cs}/\\\u202A-\u202E\u2066-\u2069]/u;

/** Checks a file's name, which is shown, searched and written into headers, and never used as a path. */
function checkName(filename: string): string {
  const name = filename.trim();
  if (name === '' || name.length > FILENAME_CHARS_MAX || UNSHOWN.test(name))
    throw invalid(
      'file.filename',
      `must have 1 to ${FILENAME_CHARS_MAX} characters, none of them a slash, a backslash or a control character`,
    );
  return name;
}

function busy(most: string): GatewayError {
  return new GatewayError('rate_limit_exceeded', `At most ${most} are written at once.`, {
    retryAfterMs: BUSY_RETRY_AFTER_MS,
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('payload_too_large', `The file is larger than ${bytesMax} bytes.`);
}

function noRoomLeft(bytesMax: number): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The files of the workspace would take more than the ${bytesMax} bytes, or the ${FILES_PER_WORKSPACE_MAX} files, that it may have. Delete some.`,
  );
}

function diskFull(cause: unknown): GatewayError {
  return new GatewayError('provider_overloaded', 'The disk of the gateway is full: the file was not stored.', {
    retryAfterMs: RETRY_AFTER_MS,
    cause,
  });
}

function noSuchFile(): GatewayError {
  return new GatewayError('not_found', 'There is no such file.');
}

function notHere(): GatewayError {
  return new GatewayError('provider_overloaded', 'The content of the file is not on the disk of this gateway.', {
    status: 503,
  });
}
