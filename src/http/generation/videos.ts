import type { RunVideo } from '../../video-jobs/run-video.ts';
import { encodeOperationError } from '../../wire/operation-error.ts';
import { decodeVideo, type VideoDefaults } from '../../wire/video/request-in.ts';
import { withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface VideosRouteDeps extends BodyRouteDeps {
  readonly run: RunVideo;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
  readonly videoDefaults: VideoDefaults;
}

const CALLER = { id: 'video', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;

/** `POST /videos`. */
export function createVideosRoute(deps: VideosRouteDeps): RawHandler {
  return createBodyRoute(CALLER, deps, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, turns, headers } = admitted;
    const request = withFullNames(decodeVideo(body, text, headers, deps.videoDefaults), deps.rename);
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    await deps.run(incoming, new NodeCaller(response, CALLER));
  });
}
