import type { Block, MediaBlock, MediaSource } from '../../canonical/blocks.ts';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import type { GenerationRequest, Turn } from '../../canonical/request.ts';
import { isOwnFileId, type FileOwner, type StoredFile, type StoredFiles } from '../../canonical/tools/stored-files.ts';
import { isTextType } from '../../canonical/text-type.ts';
import type { SignalSource } from '../../lib/async/cancellation.ts';
import type { ByteBudget, BytesTaken } from '../../lib/memory/byte-budget.ts';
import { writeOutDocuments } from '../../wire/text-documents.ts';
import {
  pathOfConversation,
  pathOfResultContent,
  pathsOfBlocks,
  pathsOfContent,
  pathsOfTurns,
} from '../../wire/gateway/source/source-paths.ts';
import { isTextOnly } from '../../canonical/text-only.ts';

export interface StoredFilesDeps {
  readonly storedFiles: Pick<StoredFiles, 'find' | 'read'>;
  /** Of all requests together. */
  readonly fileMemory: ByteBudget;
}

export interface StoredFilesInput {
  readonly owner: FileOwner;
  readonly cancellation: SignalSource;
  /** Takes the memory of the files, which is released when the request is over. */
  readonly onTaken: (taken: BytesTaken) => void;
}

/** As of files that are fetched from addresses. @spec media-2 */
const IMAGE_BYTES_MAX = 20 * 1_024 * 1_024;
const FILE_BYTES_MAX = 50 * 1_024 * 1_024;
const FILES_MAX = 32;
const TOTAL_BYTES_MAX = 100 * 1_024 * 1_024;
/** How soon it is worth to ask again where the memory for files is used up. */
const RETRY_AFTER_MS = 5_000;

type Sources = ReadonlyMap<string, TakenIn>;
interface TakenIn {
  readonly file: StoredFile;
  readonly media: MediaBlock['media'];
  readonly source: MediaSource;
}

/**
 * Puts the files of the caller's workspace in the place of their ids: no provider knows them. Ids of vendors stay.
 * Where there is none, it is the request itself, at once.
 * @throws GatewayError as a rejection: 404 at the block whose file is not there, 400 for what is too large, 503 without
 * memory for it
 * @spec file-9
 */
export function inlineStoredFiles(
  deps: StoredFilesDeps,
  request: GenerationRequest,
  input: StoredFilesInput,
): GenerationRequest | Promise<GenerationRequest> {
  if (isTextOnly(request)) return request;
  const named = findNamed(request);
  return named.size === 0 ? request : takeIn(deps, request, named, input);
}

async function takeIn(
  deps: StoredFilesDeps,
  request: GenerationRequest,
  named: ReadonlyMap<string, string>,
  input: StoredFilesInput,
): Promise<GenerationRequest> {
  if (named.size > FILES_MAX)
    throw invalid(pathOfConversation(request.format), `name more than ${FILES_MAX} stored files`);
  const sources = await readAll(deps, named, input);
  const taking: Taking = { sources, writesOut: request.format === 'chat' };
  const turns = request.turns.map((turn): Turn => ({ ...turn, blocks: takenAll(turn.blocks, taking) }));
  return { ...request, turns };
}

/** For as long as `use` takes. @throws GatewayError like `inlineStoredFiles`, and what `use` throws */
export async function withFiles<Value>(
  deps: StoredFilesDeps,
  request: GenerationRequest,
  input: Omit<StoredFilesInput, 'onTaken'>,
  use: (request: GenerationRequest) => Promise<Value>,
): Promise<Value> {
  let held: BytesTaken | undefined;
  const onTaken = (memory: BytesTaken): void => void (held = memory);
  try {
    return await use(await inlineStoredFiles(deps, request, { ...input, onTaken }));
  } finally {
    held?.shrink(0);
  }
}

interface Taking {
  readonly sources: Sources;
  /** Callers of chat have no words for a document of text: what they say with one is text. */
  readonly writesOut: boolean;
}

/** Where a block of each format holds the id. */
const ID_MEMBER: Readonly<Record<GenerationRequest['format'], string>> = {
  chat: '.file.file_id',
  messages: '.source.file_id',
  responses: '.file_id',
};

/** Where each file is named first, by its id. */
function findNamed(request: GenerationRequest): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const look = (blocks: readonly Block[], pathsOf: () => readonly string[]): void => {
    for (const [at, block] of blocks.entries()) {
      const nested = nestedOf(block, request.format);
      if (nested !== undefined)
        look(nested.blocks, () => pathsOfContent(nested.blocks, nested.plain, nested.pathIn(pathsOf()[at] ?? '')));
      const id = fileIdOf(block);
      if (id !== undefined && !found.has(id)) found.set(id, (pathsOf()[at] ?? '') + ID_MEMBER[request.format]);
    }
  };
  for (const [at, turn] of request.turns.entries())
    look(turn.blocks, () => pathsOfBlocks(request.format, turn, pathsOfTurns(request)[at] ?? ''));
  return found;
}

interface NestedContext {
  readonly blocks: readonly Block[];
  readonly plain: true | undefined;
  /** @param path of the block that holds them */
  readonly pathIn: (path: string) => string;
}

function nestedOf(block: Block, caller: GenerationRequest['format']): NestedContext | undefined {
  if (block.type === 'tool-result')
    return { blocks: block.content, plain: block.plain, pathIn: (path) => pathOfResultContent(caller, path) };
  if (block.type !== 'media' || block.source.type !== 'blocks') return undefined;
  return { blocks: block.source.blocks, plain: block.source.plain, pathIn: (path) => `${path}.source.content` };
}

function fileIdOf(block: Block): string | undefined {
  if (block.type !== 'media' || block.source.type !== 'file') return undefined;
  return isOwnFileId(block.source.fileId) ? block.source.fileId : undefined;
}

async function readAll(
  { storedFiles, fileMemory }: StoredFilesDeps,
  named: ReadonlyMap<string, string>,
  { owner, cancellation, onTaken }: StoredFilesInput,
): Promise<Sources> {
  const files = await Promise.all(
    [...named].map(async ([id, path]) => ({ path, file: await storedFiles.find(owner, id), id })),
  );
  let bytes = 0;
  const found = files.map(({ path, file, id }) => {
    if (file === undefined) throw noSuchFile(path, id);
    bytes += file.sizeBytes;
    checkSize(file, path, bytes);
    return file;
  });
  const memory = await fileMemory.take(bytes, cancellation.signal);
  if (memory === undefined)
    throw new GatewayError('provider_overloaded', 'The gateway reads as many files of requests as its memory holds.', {
      retryAfterMs: RETRY_AFTER_MS,
    });
  onTaken(memory);
  const sources = new Map<string, TakenIn>();
  // One after the other: what is read is twice there until it is in base64.
  for (const file of found) sources.set(file.id, takenIn(file, await storedFiles.read(file)));
  return sources;
}

export function noSuchFile(path: string, id: string): GatewayError {
  const message = `there is no file ${JSON.stringify(id)} in the workspace of the key`;
  return new GatewayError('not_found', `${path}: ${message}`, { issues: [{ path, message }] });
}

function checkSize({ mimeType, sizeBytes }: StoredFile, path: string, totalBytes: number): void {
  const isImage = mimeType.startsWith('image/');
  const bytesMax = isImage ? IMAGE_BYTES_MAX : FILE_BYTES_MAX;
  if (sizeBytes > bytesMax)
    throw invalid(
      path,
      `is a file of ${sizeBytes} bytes, and at most ${bytesMax} can be sent to a model`,
      isImage ? 'image_too_large' : 'invalid_request',
    );
  if (totalBytes > TOTAL_BYTES_MAX) throw invalid(path, `is one file too many: at most ${TOTAL_BYTES_MAX} bytes fit`);
}

/** A text is a document of text: what formats do with base64 of one differs. */
function takenIn(file: StoredFile, content: Uint8Array): TakenIn {
  const { mimeType } = file;
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  if (isTextType(mimeType))
    return { file, media: 'document', source: { type: 'text', mediaType: 'text/plain', text: bytes.toString('utf8') } };
  const media = mimeType.startsWith('image/') ? 'image' : mimeType.startsWith('audio/') ? 'audio' : 'document';
  return { file, media, source: { type: 'base64', mediaType: mimeType, data: bytes.toString('base64') } };
}

/** The same blocks where no file is named in them. */
function takenAll(blocks: readonly Block[], taking: Taking): readonly Block[] {
  const replaced = blocks.flatMap((block) => {
    const one = taken(block, taking);
    return one === block || !taking.writesOut ? [one] : writeOutDocuments([one]);
  });
  return replaced.every((block, at) => block === blocks[at]) ? blocks : replaced;
}

function taken(block: Block, taking: Taking): Block {
  if (block.type === 'tool-result') {
    const content = takenAll(block.content, taking);
    return content === block.content ? block : { ...block, content };
  }
  if (block.type !== 'media') return block;
  if (block.source.type === 'blocks') {
    const blocks = takenAll(block.source.blocks, taking);
    return blocks === block.source.blocks ? block : { ...block, source: { ...block.source, blocks } };
  }
  const id = fileIdOf(block);
  const found = id === undefined ? undefined : taking.sources.get(id);
  if (found === undefined) return block;
  const { file, media, source } = found;
  const name = media === 'document' ? (block.name ?? file.filename) : block.name;
  return { ...block, media, source, ...(name !== undefined && { name }) };
}
