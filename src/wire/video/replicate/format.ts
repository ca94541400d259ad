import { invalid } from '../../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import {
  cancelPrediction,
  endOfPrediction,
  getPrediction,
  predictionId,
  predictionOf,
} from '../../operations/replicate-predictions.ts';
import { optionsFor, withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import { UnreadableVideo, type EncodedVideo, type UpstreamJob, type VideoFormat, type VideoTarget } from '../format.ts';
import { refuseSize, textAt } from '../shared.ts';

/**
 * Models at Replicate that make clips: predictions.
 * @source replicate.com/docs "HTTP API", "Prediction lifecycle"; vercel/ai, `replicate-video-model.ts`; all read 2026-11
 */
export const replicateVideo: VideoFormat = {
  id: 'video/replicate',
  encode,
  decodeAccepted(body) {
    try {
      return predictionId(body);
    } catch (error) {
      if (error instanceof NotThatJson) throw new UnreadableVideo('The prediction has no id.', { cause: error });
      throw error;
    }
  },
  poll: (id) => ({ method: 'GET', path: getPrediction(id).at.path }),
  decodeJob,
  cancel: (id) => ({ method: 'POST', path: cancelPrediction(id).at.path, body: {} }),
  decodeError,
};

/** What single families call the first picture, as their schemas there say; all others: `image`. */
const FIRST_FRAME: readonly (readonly [models: RegExp, member: string])[] = [
  [/kling/, 'start_image'],
  [/minimax|hailuo/, 'first_frame_image'],
];

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider }: VideoTarget): EncodedVideo {
  const { prompt, durationS, resolution, aspectRatio, seed, generateAudio, frames, references } = operation;
  refuseSize(operation);
  const last = frames.findIndex(({ type }) => type === 'last_frame');
  if (last >= 0) throw invalid(`frame_images[${last}]`, 'cannot be a last frame at this provider');
  if (references.length > 0) throw invalid('input_references[0]', 'is taken by no endpoint of this provider');
  const [first] = frames;
  const member = FIRST_FRAME.find(([models]) => models.test(model))?.[1] ?? 'image';
  const input = withOptions(
    {
      ...(prompt !== undefined && { prompt }),
      ...(first !== undefined && { [member]: first.url }),
      ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
      ...(resolution !== undefined && { resolution: resolution.toLowerCase() }),
      ...(durationS !== undefined && { duration: durationS }),
      ...(generateAudio !== undefined && { generate_audio: generateAudio }),
      ...(seed !== undefined && { seed }),
    },
    optionsFor(operation, provider),
  );
  return { method: 'POST', ...predictionOf(model, input), warnings: [] };
}

function decodeJob(_status: number, body: JsonObject | undefined): UpstreamJob {
  const word = textAt(body?.['status']);
  if (body === undefined || word === undefined) throw new UnreadableVideo('The prediction has no status.');
  const nativeState = word;
  const end = endOfPrediction(body);
  if (end === undefined) {
    const state = word === 'starting' ? 'pending' : word === 'processing' ? 'in_progress' : 'unknown';
    return { state, nativeState };
  }
  if ('failed' in end) {
    if (end.isCancelled) return { state: 'cancelled', nativeState };
    return { state: 'failed', message: end.failed, isModerated: end.isRefusal, nativeState };
  }
  if (end.urls.length === 0) return { state: 'failed', isModerated: false, message: 'there is no clip', nativeState };
  return { state: 'completed', clips: end.urls.map((url) => ({ url })), nativeState };
}
