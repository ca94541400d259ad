import { invalid } from '../../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { itemsOf } from '../../json-fields.ts';
import { optionsFor, withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import { UnreadableVideo, type EncodedVideo, type UpstreamJob, type VideoFormat, type VideoTarget } from '../format.ts';
import { percentAt, textAt } from '../shared.ts';

/**
 * Runway: tasks, from words or from pictures.
 * @source @runwayml/sdk 4.20, `text-to-video.ts`, `image-to-video.ts`, `tasks.ts`; docs.dev.runwayml.com "API reference"; read 2026-11
 */
export const runwayVideo: VideoFormat = {
  id: 'video/runway',
  encode,
  decodeAccepted(body) {
    const id = textAt(body['id']);
    if (id === undefined || id.length > ID_CHARS_MAX) throw new UnreadableVideo('The task has no id.');
    return id;
  },
  poll: (id) => ({ method: 'GET', path: `/tasks/${encodePathSegment(id)}` }),
  decodeJob,
  cancel: (id) => ({ method: 'DELETE', path: `/tasks/${encodePathSegment(id)}` }),
  decodeError,
};

const ID_CHARS_MAX = 200;
/** Its word for a ratio is the size in pixels, which its API demands. */
const SIZES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '720p': {
    '16:9': '1280:720',
    '9:16': '720:1280',
    '4:3': '1104:832',
    '3:4': '832:1104',
    '1:1': '960:960',
    '21:9': '1584:672',
  },
  '1080p': { '16:9': '1920:1080', '9:16': '1080:1920' },
};
const PERCENT = 100;

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider }: VideoTarget): EncodedVideo {
  const { prompt, durationS, seed, generateAudio, frames, references } = operation;
  if (references.length > 0) throw invalid('input_references[0]', 'is taken by no endpoint of this provider');
  const images = frames.map(({ type, url }) => ({ uri: url, position: type === 'first_frame' ? 'first' : 'last' }));
  return {
    method: 'POST',
    path: images.length > 0 ? '/image_to_video' : '/text_to_video',
    body: withOptions(
      {
        model,
        ...(prompt !== undefined && { promptText: prompt }),
        ...(images.length > 0 && { promptImage: images }),
        ratio: ratioOf(operation),
        ...(durationS !== undefined && { duration: durationS }),
        ...(generateAudio !== undefined && { audio: generateAudio }),
        ...(seed !== undefined && { seed }),
      },
      optionsFor(operation, provider),
    ),
    warnings: [],
  };
}

function ratioOf({ size, resolution = '720p', aspectRatio = '16:9' }: VideoOperation): string {
  if (size !== undefined) {
    const word = size.replace('x', ':');
    if (Object.values(SIZES).some((words) => Object.values(words).includes(word))) return word;
    throw invalid('size', 'must be one of 1280x720, 720x1280, 1920x1080, 1080x1920 and their like at this provider');
  }
  const words = SIZES[resolution.toLowerCase()];
  if (words === undefined)
    throw invalid('resolution', `must be one of ${Object.keys(SIZES).join(', ')} at this provider`);
  const word = words[aspectRatio];
  if (word !== undefined) return word;
  throw invalid('aspect_ratio', `must be one of ${Object.keys(words).join(', ')} at this provider`);
}

function decodeJob(_status: number, body: JsonObject | undefined): UpstreamJob {
  const word = textAt(body?.['status']);
  if (body === undefined || word === undefined) throw new UnreadableVideo('The task has no status.');
  const nativeState = word;
  const { progress: share, output, failure, failureCode } = body;
  switch (word) {
    case 'PENDING':
    case 'THROTTLED':
      return { state: 'pending', nativeState };
    case 'RUNNING': {
      const progress = typeof share === 'number' ? percentAt(share * PERCENT) : undefined;
      return { state: 'in_progress', ...(progress !== undefined && { progress }), nativeState };
    }
    case 'SUCCEEDED': {
      const urls = itemsOf(output).filter((url) => typeof url === 'string');
      if (urls.length === 0) return { state: 'failed', isModerated: false, message: 'there is no clip', nativeState };
      return { state: 'completed', clips: urls.map((url) => ({ url })), nativeState };
    }
    case 'FAILED': {
      const message = textAt(failure);
      const isModerated = /SAFETY|MODERAT/.test(textAt(failureCode) ?? '');
      return { state: 'failed', isModerated, ...(message !== undefined && { message }), nativeState };
    }
    case 'CANCELLED':
      return { state: 'cancelled', nativeState };
    default:
      return { state: 'unknown', nativeState };
  }
}
