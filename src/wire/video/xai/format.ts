import { invalid } from '../../../canonical/gateway-error.ts';
import type { Warning } from '../../../canonical/extra.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { optionsFor, withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import { UnreadableVideo, type EncodedVideo, type UpstreamJob, type VideoFormat, type VideoTarget } from '../format.ts';
import { durationMsAt, objectAt, percentAt, textAt } from '../shared.ts';

/**
 * Grok Imagine, and the sandbox: a request with an id. The vendor cancels none: `cancels` of an offer says which provider does.
 * @source docs.x.ai "Video generation"; vercel/ai, `xai-video-model.ts`; both read 2026-11
 */
export const xaiVideo: VideoFormat = {
  id: 'video/xai',
  encode,
  decodeAccepted(body) {
    const id = textAt(body['request_id']);
    if (id === undefined || id.length > ID_CHARS_MAX) throw new UnreadableVideo('The request has no id.');
    return id;
  },
  poll: (id) => ({ method: 'GET', path: `/videos/${encodePathSegment(id)}` }),
  decodeJob,
  // The sandbox alone.
  cancel: (id) => ({ method: 'DELETE', path: `/videos/${encodePathSegment(id)}` }),
  decodeError,
};

const ID_CHARS_MAX = 2_048;
const SIZES: Readonly<Record<string, { readonly resolution: string; readonly aspect_ratio: string }>> = {
  '1920x1080': { resolution: '1080p', aspect_ratio: '16:9' },
  '1080x1920': { resolution: '1080p', aspect_ratio: '9:16' },
  '1280x720': { resolution: '720p', aspect_ratio: '16:9' },
  '720x1280': { resolution: '720p', aspect_ratio: '9:16' },
  '854x480': { resolution: '480p', aspect_ratio: '16:9' },
  '480x854': { resolution: '480p', aspect_ratio: '9:16' },
  '640x480': { resolution: '480p', aspect_ratio: '4:3' },
};

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider, endUserId }: VideoTarget): EncodedVideo {
  const { prompt, durationS, resolution, aspectRatio, size, frames, references } = operation;
  const sized = size === undefined ? undefined : SIZES[size];
  if (size !== undefined && sized === undefined)
    throw invalid('size', `must be one of ${Object.keys(SIZES).join(', ')} at this provider`);
  const last = frames.findIndex(({ type }) => type === 'last_frame');
  if (last >= 0) throw invalid(`frame_images[${last}]`, 'cannot be a last frame at this provider');
  const odd = references.findIndex(({ media }) => media !== 'image');
  if (odd >= 0) throw invalid(`input_references[${odd}]`, 'must be a picture at this provider');
  const [first] = frames;
  return {
    method: 'POST',
    path: '/videos/generations',
    body: withOptions(
      {
        model,
        ...(prompt !== undefined && { prompt }),
        ...(durationS !== undefined && { duration: durationS }),
        ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
        ...(resolution !== undefined && { resolution }),
        ...sized,
        ...(first !== undefined && { image: { url: first.url } }),
        ...(references.length > 0 && { reference_images: references.map(({ url }) => ({ url })) }),
        user: endUserId,
      },
      optionsFor(operation, provider),
    ),
    warnings: droppedWarnings(operation),
  };
}

function droppedWarnings({ seed, generateAudio }: VideoOperation): readonly Warning[] {
  const message = 'the provider has no member for it';
  return [
    ...(seed === undefined ? [] : [{ code: 'field-dropped' as const, path: 'seed', message }]),
    ...(generateAudio !== true ? [] : [{ code: 'field-dropped' as const, path: 'generate_audio', message }]),
  ];
}

function decodeJob(status: number, body: JsonObject | undefined): UpstreamJob {
  // While it runs the answer is 202, now and then without a body.
  if (body === undefined) {
    if (status === 202) return { state: 'in_progress' };
    throw new UnreadableVideo('The response is empty.');
  }
  const word = textAt(body['status']);
  const native = word === undefined ? {} : { nativeState: word };
  const video = objectAt(body['video']);
  const url = textAt(video?.['url']);
  if (word === 'done' || (word === undefined && url !== undefined)) {
    if (video?.['respect_moderation'] === false) return { state: 'failed', isModerated: true, ...native };
    if (url === undefined) return { state: 'failed', isModerated: false, message: 'there is no clip', ...native };
    const durationMs = durationMsAt(video?.['duration']);
    return {
      state: 'completed',
      clips: [{ url }],
      ...(durationMs !== undefined && { durationMs }),
      ...native,
    };
  }
  if (word === 'failed') {
    const error = objectAt(body['error']);
    const message = textAt(error?.['message']);
    const isModerated = /moderat|policy|safety/i.test(`${textAt(error?.['code']) ?? ''} ${message ?? ''}`);
    return { state: 'failed', isModerated, ...(message !== undefined && { message }), ...native };
  }
  if (word === 'expired') return { state: 'expired', ...native };
  if (word === 'cancelled') return { state: 'cancelled', ...native };
  const progress = percentAt(body['progress']);
  const state =
    word === undefined || word === 'processing' ? 'in_progress' : word === 'pending' ? 'pending' : 'unknown';
  return { state, ...(progress !== undefined && { progress }), ...native };
}
