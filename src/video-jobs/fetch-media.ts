import { invalid } from '../canonical/gateway-error.ts';
import type { VideoOperation, VideoReference } from '../canonical/video.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { HeldFiles } from '../lib/memory/held-files.ts';
import { createFileTypeFinder } from '../lib/files/file-type.ts';
import type { Download } from '../lib/net/download.ts';
import { explainFetch, fetchInput } from '../pipeline/operation/fetch-input.ts';
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
/** Of a byte of a file its base64, and both of them while that is made. */
const BASE64_BYTES = 4 / 3;

/**
 * Fetches what stands in a request as an address, and checks all of it by its bytes.
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there, 503 without memory
 */
export async function fetchMedia(
  { download, fileMemory }: FetchMediaDeps,
  request: VideoOperation,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  const files = new HeldFiles(fileMemory, signal);
  let total = 0;
  const fetchOne = async (url: string, media: VideoReference['media'], path: string): Promise<string> => {
    const memory = files.open();
    const bytesMax = BYTES_MAX[media];
    let kept = 0;
    try {
      const bytes = await fetchInput(download, { url, path, bytesMax }, memory, signal);
      total += bytes.length;
      if (bytes.length > bytesMax || total > TOTAL_BYTES_MAX)
        throw invalid(path, `is too large: at most ${bytesMax} bytes, and ${TOTAL_BYTES_MAX} of all together`);
      await memory.hold(Math.ceil(bytes.length * (1 + BASE64_BYTES)));
      const text = `data:${typeOf(bytes, media, path)};base64,${bytes.toString('base64')}`;
      kept = text.length;
      return text;
    } finally {
      memory.keep(kept);
    }
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
    return { request: { ...request, frames, references }, close: () => files.close() };
  } catch (error) {
    files.close();
    throw explainFetch(error);
  }
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
