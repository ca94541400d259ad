import type { MediaBlock } from '../../canonical/blocks.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { isOwnFileId, type FileOwner, type StoredFiles } from '../../canonical/tools/stored-files.ts';
import { clipTypeOf } from '../../lib/files/clip-type.ts';
import { createFileTypeFinder } from '../../lib/files/file-type.ts';
import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import type { HeldFile, HeldFiles } from '../../lib/memory/held-files.ts';
import type { Download } from '../../lib/net/download.ts';
import { noSuchFile } from '../admission/stored-files.ts';
import { fetchInput } from './fetch-input.ts';

export interface FetchMediaDeps {
  readonly download: Download;
  readonly storedFiles: Pick<StoredFiles, 'find' | 'read'>;
  /** Of the files of all requests together. */
  readonly fileMemory: ByteBudget;
}

export interface FetchScope {
  /** The workspace whose files the request may name. */
  readonly owner: FileOwner;
  readonly signal: AbortSignal;
}

/** What stands in a request, at its path: an address, a data URL, or the id of a stored file. */
interface NamedMedia {
  readonly path: string;
  readonly url: string;
}

/** The same with a data URL. @throws GatewayError 400 or 404 with the path; NoMemoryError */
export type FetchMedia = <Input extends NamedMedia>(input: Input, media: MediaBlock['media']) => Promise<Input>;

const MB = 1_024 * 1_024;
const BYTES_MAX = { image: 20 * MB, audio: 25 * MB, video: 100 * MB, document: 50 * MB } as const;
const TOTAL_BYTES_MAX = 104_857_600;
/** Of a byte of a file its base64, and both of them while that is made. */
const BASE64_BYTES = 4 / 3;

/** Fetches what one request names, and checks all of it by its bytes. @param files in whose memory it stays */
export function createMediaFetch(deps: FetchMediaDeps, files: HeldFiles, scope: FetchScope): FetchMedia {
  let total = 0;
  return async (input, media) => {
    const { path } = input;
    const memory = files.open();
    const bytesMax = BYTES_MAX[media];
    let kept = 0;
    try {
      const bytes = await bytesOf(deps, input, bytesMax, { ...scope, memory });
      total += bytes.length;
      if (bytes.length > bytesMax || total > TOTAL_BYTES_MAX)
        throw invalid(path, `is too large: at most ${bytesMax} bytes, and ${TOTAL_BYTES_MAX} of all together`);
      await memory.hold(Math.ceil(bytes.length * (1 + BASE64_BYTES)));
      const url = `data:${typeOf(bytes, media, path)};base64,${bytes.toString('base64')}`;
      kept = url.length;
      return { ...input, url };
    } finally {
      memory.keep(kept);
    }
  };
}

async function bytesOf(
  { download, storedFiles }: FetchMediaDeps,
  { url, path }: NamedMedia,
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

const UNKNOWN = {
  image: 'is no picture of a known type: PNG, JPEG, GIF and WebP are',
  audio: 'is no sound of a known type',
  video: 'is no clip of a known type',
  document: 'is no document of a known type: PDF is',
} as const satisfies Readonly<Record<MediaBlock['media'], string>>;

/** Neither names nor declared types count. @throws GatewayError 400 */
function typeOf(bytes: Buffer, media: MediaBlock['media'], path: string): string {
  const finder = createFileTypeFinder();
  finder.push(bytes);
  const type = clipTypeOf(bytes) ?? finder.end();
  const isWanted = media === 'document' ? type === 'application/pdf' : type?.startsWith(`${media}/`) === true;
  if (isWanted && type !== undefined) return type;
  throw invalid(path, UNKNOWN[media], media === 'image' ? 'unsupported_image_format' : undefined);
}
