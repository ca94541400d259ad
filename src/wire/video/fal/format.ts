import { invalid } from '../../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeFalError, failureOfFal, falPath } from '../../operations/fal-queue.ts';
import { pathOfAddress } from '../../operations/job.ts';
import { optionsFor, withOptions } from '../../provider-options.ts';
import { UnreadableVideo, type EncodedVideo, type UpstreamJob, type VideoFormat, type VideoTarget } from '../format.ts';
import { durationMsAt, objectAt, refuseSize, textAt } from '../shared.ts';

/**
 * Models at fal that make clips, by its queue. A job is known by the path of its requests.
 * @source fal.ai/docs "Inference API", "Cancel a request"; vercel/ai, `fal-video-model.ts`; all read 2026-11
 */
export const falVideo: VideoFormat = {
  id: 'video/fal',
  encode,
  decodeAccepted(body) {
    const path = pathOfAddress(body['status_url']);
    if (path?.endsWith(STATUS) !== true) throw new UnreadableVideo('The request has no address.');
    return path.slice(1, -STATUS.length);
  },
  poll: (job) => ({ method: 'GET', path: `/${job}${STATUS}` }),
  decodeJob,
  cancel: (job) => ({ method: 'PUT', path: `/${job}/cancel` }),
  decodeError: decodeFalError,
};

const STATUS = '/status';
/** Models whose words for a duration have a unit; `sora` counts in numbers, all others in words without one. */
const WITH_UNIT = /veo|luma|ray/;

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider }: VideoTarget): EncodedVideo {
  const { prompt, durationS, resolution, aspectRatio, seed, generateAudio, frames, references } = operation;
  refuseSize(operation);
  const last = frames.findIndex(({ type }) => type === 'last_frame');
  if (last >= 0) throw invalid(`frame_images[${last}]`, 'cannot be a last frame at this provider');
  if (references.length > 0) throw invalid('input_references[0]', 'is taken by no endpoint of this provider');
  const [first] = frames;
  return {
    method: 'POST',
    path: falPath(model),
    body: withOptions(
      {
        ...(prompt !== undefined && { prompt }),
        ...(first !== undefined && { image_url: first.url }),
        ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
        ...(resolution !== undefined && { resolution: resolution.toLowerCase() }),
        ...(durationS !== undefined && { duration: durationWord(model, durationS) }),
        ...(generateAudio !== undefined && { generate_audio: generateAudio }),
        ...(seed !== undefined && { seed }),
      },
      optionsFor(operation, provider),
    ),
    warnings: [],
  };
}

function durationWord(model: string, seconds: number): string | number {
  if (WITH_UNIT.test(model)) return `${seconds}s`;
  return model.includes('sora') ? seconds : String(seconds);
}

function decodeJob(_status: number, body: JsonObject | undefined): UpstreamJob {
  if (body === undefined) throw new UnreadableVideo('The response is empty.');
  const word = textAt(body['status']);
  // The result has no status.
  if (word === undefined) return resultOf(body);
  const nativeState = word;
  if (word === 'IN_QUEUE') return { state: 'pending', nativeState };
  if (word === 'IN_PROGRESS') return { state: 'in_progress', nativeState };
  if (word !== 'COMPLETED') return { state: 'unknown', nativeState };
  const failure = failureOfFal(body);
  if (failure !== undefined)
    return { state: 'failed', message: failure.message, isModerated: failure.isRefusal, nativeState };
  const path = pathOfAddress(body['response_url']);
  if (path === undefined) throw new UnreadableVideo('The result has no address.');
  return { state: 'ready', result: { method: 'GET', path } };
}

function resultOf(body: JsonObject): UpstreamJob {
  const video = objectAt(body['video']);
  const url = textAt(video?.['url']);
  if (url === undefined) throw new UnreadableVideo('The result has no clip.');
  const durationMs = durationMsAt(video?.['duration']);
  return {
    state: 'completed',
    clips: [{ url }],
    ...(durationMs !== undefined && { durationMs }),
    nativeState: 'COMPLETED',
  };
}
