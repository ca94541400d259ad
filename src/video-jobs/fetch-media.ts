import type { VideoOperation } from '../canonical/video.ts';
import { HeldFiles } from '../lib/memory/held-files.ts';
import { explainFetch } from '../pipeline/operation/fetch-input.ts';
import { createMediaFetch, type FetchMediaDeps, type FetchScope } from '../pipeline/operation/fetch-media.ts';

export interface FetchedMedia {
  /** The same request; its media are data URLs. */
  readonly request: VideoOperation;
  /** The media are not needed any more. */
  readonly close: () => void;
}

/**
 * Fetches what stands in a request as an address or as a stored file of the workspace, and checks all of it by its bytes.
 * @throws GatewayError 400 with the path of what cannot be used, 404 for what is not there, 503 without memory
 */
export async function fetchMedia(
  deps: FetchMediaDeps,
  request: VideoOperation,
  scope: FetchScope,
): Promise<FetchedMedia> {
  const files = new HeldFiles(deps.fileMemory, scope.signal);
  const fetchOne = createMediaFetch(deps, files, scope);
  try {
    const frames: VideoOperation['frames'][number][] = [];
    for (const frame of request.frames) frames.push(await fetchOne(frame, 'image'));
    const references: VideoOperation['references'][number][] = [];
    for (const reference of request.references) references.push(await fetchOne(reference, reference.media));
    return { request: { ...request, frames, references }, close: () => files.close() };
  } catch (error) {
    files.close();
    throw explainFetch(error);
  }
}
