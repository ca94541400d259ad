import type { Files } from '../accounts/files.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { VideoAsset, VideoJob } from '../store/video-jobs/columns.ts';
import { CLIP_HEAD_BYTES, clipTypeOf } from '../lib/files/clip-type.ts';
import { ClipAway, ClipGone, openClip, type ClipDeps, type ClipRequest, type OpenClip } from './clips.ts';

export interface KeepClipsDeps extends ClipDeps {
  readonly files: Pick<Files, 'keep'>;
  /** Whether clips are copied, or fetched from their providers whenever they are read. */
  readonly assets: 'store' | 'proxy';
  readonly retentionMs: number;
}

/** The clips cannot be used: there is none, or one is no clip. */
export class NoClip extends Error {
  override readonly name = 'NoClip';
}

/**
 * Checks all clips of a job by their first bytes, and copies them where there is room for them.
 * @throws NoClip; ClipGone where a provider does not give one at the moment
 */
export async function keepClips(
  deps: KeepClipsDeps,
  job: VideoJob,
  clips: readonly ClipRequest[],
): Promise<readonly VideoAsset[]> {
  const assets: VideoAsset[] = [];
  for (const [index, clip] of clips.entries()) assets.push(await keepClip(deps, job, index, clip));
  return assets;
}

async function keepClip(deps: KeepClipsDeps, job: VideoJob, index: number, clip: ClipRequest): Promise<VideoAsset> {
  const open = await openClip(deps, clip);
  try {
    const { mediaType, chunks } = await checked(open);
    const announced = Number(open.headers['content-length']);
    const bytes = Number.isSafeInteger(announced) && announced > 0 ? announced : undefined;
    const asset = { mediaType, ...(bytes !== undefined && { bytes }) };
    // What stands in an answer has no address of its own: it is kept, whatever is set.
    if (deps.assets === 'proxy' && !('inside' in clip.source)) return asset;
    const kept = await deps.files
      .keep(
        { workspaceId: job.workspaceId, keyHash: job.keyHash },
        {
          filename: filenameOf(job.id, index, mediaType),
          purpose: 'video_output',
          mimeType: mediaType,
          expiresAfterMs: deps.retentionMs,
          chunks,
        },
      )
      .catch(withoutRoom);
    return kept === undefined ? asset : { mediaType, bytes: kept.sizeBytes, fileId: kept.id };
  } finally {
    open.close();
  }
}

/** Beyond the quota, and on a full disk, the clip stays where it is. */
function withoutRoom(error: unknown): undefined {
  if (error instanceof GatewayError && [413, 429, 503].includes(error.status)) return undefined;
  if (error instanceof GatewayError || error instanceof ClipGone) throw error;
  throw new ClipAway('The clip broke off.', { cause: error });
}

/** Names of types do not count, the bytes do. @throws NoClip */
async function checked({ status, chunks }: OpenClip) {
  if (status !== 200) throw new ClipGone(`The provider answered with status ${status} for the clip.`);
  const iterator = chunks[Symbol.asyncIterator]();
  const head = await readHead(iterator);
  const mediaType = clipTypeOf(head);
  if (mediaType === undefined) throw new NoClip('What the provider gave is no clip.');
  return { mediaType, chunks: rejoined(head, iterator) };
}

/** In how small pieces they come is not the clip's fault. */
async function readHead(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  try {
    for (let bytes = 0; bytes < CLIP_HEAD_BYTES;) {
      const next = await iterator.next();
      if (next.done === true) break;
      pieces.push(next.value);
      bytes += next.value.length;
    }
  } catch (error) {
    return withoutRoom(error) ?? Buffer.alloc(0);
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

async function* rejoined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

const ENDINGS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
};

export function filenameOf(jobId: string, index: number, mediaType: string): string {
  return `${jobId}-${index}.${ENDINGS[mediaType] ?? 'bin'}`;
}
