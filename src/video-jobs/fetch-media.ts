import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { VideoOperation, VideoReference } from '../canonical/video.ts';
import { GrowingBytes, NoMemoryError } from '../lib/memory/growing-bytes.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { createFileTypeFinder } from '../lib/files/file-type.ts';
import { DownloadError, type Download } from '../lib/net/download.ts';
import { clipTypeOf } from './clips.ts';

export interface FetchMediaDeps {
  readonly download: Download;
  /** Of the files of all requests together. */
  readonly fileMemory: ByteBudget;
}

export interface FetchedMedia {
  /** The same request; its media are data URLs. */
  readonly request: VideoOperation;
  /** The media are not needed any more. */
  readonly close: () => void;
}

const MB = 1_024 * 1_024;
const BYTES_MAX = { image: 20 * MB, audio: 25 * MB, video: 100 * MB } as const;
const TOTAL_BYTES_MAX = 100 * MB;
const TIMEOUT_MS = 10_000;
/** The bytes, and their base64. */
const COPIES = 3;

/**
 * Fetches what stands in a request as an address, and checks all of it by its bytes.
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there, 503 without memory
 */
export async function fetchMedia(
  { download, fileMemory }: FetchMediaDeps,
  request: VideoOperation,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const memory = new GrowingBytes(fileMemory, signal);
  let held = 0;
  const fetchOne = async (url: string, media: VideoReference['media'], path: string): Promise<string> => {
    const bytes = url.startsWith('data:')
      ? bytesOf(url, path)
      : (await download(url, { bytesMax: BYTES_MAX[media], timeoutMs: TIMEOUT_MS }, signal).catch(refused(url, path)))
          .bytes;
    held += bytes.length;
    if (bytes.length > BYTES_MAX[media] || held > TOTAL_BYTES_MAX)
      throw invalid(path, `is too large: at most ${BYTES_MAX[media]} bytes, and ${TOTAL_BYTES_MAX} of all together`);
    await memory.hold(held * COPIES);
    return `data:${typeOf(bytes, media, path)};base64,${bytes.toString('base64')}`;
  };
  try {
    const frames: VideoOperation['frames'][number][] = [];
    for (const [at, frame] of request.frames.entries())
      frames.push({ ...frame, url: await fetchOne(frame.url, 'image', `frame_images[${at}].image_url.url`) });
    const references: VideoReference[] = [];
    for (const [at, reference] of request.references.entries()) {
      const path = `input_references[${at}].${reference.media}_url.url`;
      references.push({ ...reference, url: await fetchOne(reference.url, reference.media, path) });
    }
    return { request: { ...request, frames, references }, close: () => memory.close() };
  } catch (error) {
    memory.close();
    if (!(error instanceof NoMemoryError)) throw error;
    throw new GatewayError(
      'provider_overloaded',
      'The gateway fetches as many files of requests as its memory holds.',
      {
        retryAfterMs: 5_000,
      },
    );
  }
}

const DATA_URL = /^data:[^,]{0,200};base64,/i;

function bytesOf(url: string, path: string): Buffer {
  const head = DATA_URL.exec(url);
  if (head === null) throw invalid(path, 'must be an https address, or a data URL with base64');
  return Buffer.from(url.slice(head[0].length), 'base64');
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

/** The host is shown, and nothing behind it: an address may hold a signature. */
function refused(url: string, path: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DownloadError)) throw error;
    const host = URL.parse(url)?.host ?? 'no host';
    const isMissing = /status (?:404|410)\b/.test(error.message);
    throw invalid(
      path,
      `could not be fetched from ${host}: ${error.message}`,
      isMissing ? 'image_not_found' : 'image_download_failed',
    );
  };
}
