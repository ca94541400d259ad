import { invalid } from '../canonical/gateway-error.ts';
import { isOwnFileId, type FileOwner, type StoredFiles } from '../canonical/tools/stored-files.ts';
import type { VideoOperation, VideoReference } from '../canonical/video.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { HeldFiles, type HeldFile } from '../lib/memory/held-files.ts';
import { createFileTypeFinder } from '../lib/files/file-type.ts';
import type { Download } from '../lib/net/download.ts';
import { noSuchFile } from '../pipeline/admission/stored-files.ts';
import { explainFetch, fetchInput } from '../pipeline/operation/fetch-input.ts';
import { clipTypeOf } from './clips.ts';

export interface FetchMediaDeps {
  readonly download: Download;
  readonly storedFiles: Pick<StoredFiles, 'find' | 'read'>;
  /** Of the files of all requests together. */
  readonly fileMemory: ByteBudget;
}

interface FetchScope {
  /** The workspace whose files the request may name. */
  readonly owner: FileOwner;
  readonly signal: AbortSignal;
}

type MediaName = Pick<VideoReference, 'path' | 'url'>;

export interface FetchedMedia {
  /** The same request; its media are data URLs. */
  readonly request: VideoOperation;
  /** The media are not needed any more. */
  readonly close: () => void;
}

const MB = 1_024 * 1_024;
const BYTES_MAX = { image: 20 * MB, audio: 25 * MB, video: 100 * MB } as const;
const TOTAL_BYTES_MAX = 100 * MB;
/** Of a byte of a file its base64, and both of them while that is made. */
const BASE64_BYTES = 4 / 3;

/**
 * Fetches what stands in a request as an address or as a stored file of the workspace, and checks all of it by its bytes.
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there, 503 without memory
 */
export async function fetchMedia(
  deps: FetchMediaDeps,
  request: VideoOperation,
  { owner, signal }: FetchScope,
): Promise<FetchedMedia> {
  const files = new HeldFiles(deps.fileMemory, signal);
  let total = 0;
  const fetchOne = async <Input extends MediaName>(input: Input, media: VideoReference['media']): Promise<Input> => {
    const { path } = input;
    const memory = files.open();
    const bytesMax = BYTES_MAX[media];
    let kept = 0;
    try {
      const bytes = await bytesOf(deps, input, bytesMax, { owner, memory, signal });
      total += bytes.length;
      if (bytes.length > bytesMax || total > TOTAL_BYTES_MAX)
        throw invalid(path, `is too large: at most ${bytesMax} bytes, and ${TOTAL_BYTES_MAX} of all together`);
      await memory.hold(Math.ceil(bytes.length * (1 + BASE64_BYTES)));
      const text = `data:${typeOf(bytes, media, path)};base64,${bytes.toString('base64')}`;
      kept = text.length;
      return { ...input, url: text };
    } finally {
      memory.keep(kept);
    }
  };
  try {
    const frames: VideoOperation['frames'][number][] = [];
    for (const frame of request.frames) frames.push(await fetchOne(frame, 'image'));
    const references: VideoReference[] = [];
    for (const reference of request.references) references.push(await fetchOne(reference, reference.media));
    return { request: { ...request, frames, references }, close: () => files.close() };
  } catch (error) {
    files.close();
    throw explainFetch(error);
  }
}

async function bytesOf(
  { download, storedFiles }: FetchMediaDeps,
  { url, path }: MediaName,
  bytesMax: number,
  { owner, memory, signal }: FetchScope & { readonly memory: HeldFile },
): Promise<Buffer> {
  if (!isOwnFileId(url)) return fetchInput(download, { url, path, bytesMax }, memory, signal);
  const stored = await storedFiles.find(owner, url);
  if (stored === undefined) throw noSuchFile(path, url);
  if (stored.sizeBytes > bytesMax) throw invalid(path, `is larger than ${bytesMax} bytes`);
  await memory.hold(stored.sizeBytes);
  const bytes = await storedFiles.read(stored);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Neither names nor declared types count. @throws GatewayError 400 */
function typeOf(bytes: Buffer, media: VideoReference['media'], path: string): string {
  const finder = createFileTypeFinder();
  finder.push(bytes);
  const type = clipTypeOf(bytes) ?? finder.end();
  if (type?.startsWith(`${media}/`) === true) return type;
  throw media === 'image'
    ? invalid(path, 'is no picture of a known type: PNG, JPEG, GIF and WebP are', 'unsupported_image_format')
    : invalid(path, media === 'audio' ? 'is no sound of a known type' : 'is no clip of a known type');
}
