import type { Warning } from '../../../canonical/extra.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { optionsFor, withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import { UnreadableVideo, type Clip, type EncodedVideo, type UpstreamJob, type VideoFormat } from '../format.ts';
import { dataUrlParts, objectAt, textAt } from '../shared.ts';

/**
 * Veo at the Gemini API: a long-running operation, which cannot be cancelled.
 * @source ai.google.dev "Generate videos with Veo"; vercel/ai, `google-video-model.ts`; both read 2026-11
 */
export const veoVideo: VideoFormat = {
  id: 'video/veo',
  encode,
  decodeAccepted(body) {
    const name = textAt(body['name']);
    // It becomes a path: `models/veo-3.1/operations/abc`.
    if (name === undefined || !/^[\w.-]+(?:\/[\w.-]+){1,7}$/.test(name) || name.includes('..'))
      throw new UnreadableVideo('The operation has no name.');
    return name;
  },
  poll: (name) => ({ method: 'GET', path: `/${name}` }),
  decodeJob,
  decodeError,
};

const SIZES: Readonly<Record<string, { readonly resolution: string; readonly aspectRatio: string }>> = {
  '1280x720': { resolution: '720p', aspectRatio: '16:9' },
  '720x1280': { resolution: '720p', aspectRatio: '9:16' },
  '1920x1080': { resolution: '1080p', aspectRatio: '16:9' },
  '1080x1920': { resolution: '1080p', aspectRatio: '9:16' },
  '3840x2160': { resolution: '4k', aspectRatio: '16:9' },
  '2160x3840': { resolution: '4k', aspectRatio: '9:16' },
};

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider }: { model: string; provider: string }): EncodedVideo {
  const { prompt, durationS, seed, size, references } = operation;
  const sized = size === undefined ? undefined : SIZES[size];
  if (size !== undefined && sized === undefined)
    throw invalid('size', `must be one of ${Object.keys(SIZES).join(', ')} at this provider`);
  const resolution = sized?.resolution ?? operation.resolution?.toLowerCase();
  const aspectRatio = sized?.aspectRatio ?? operation.aspectRatio;
  const instance: Record<string, JsonObject | string | JsonObject[]> = {};
  if (prompt !== undefined) instance['prompt'] = prompt;
  operation.frames.forEach(({ type, url }, at) => {
    instance[type === 'first_frame' ? 'image' : 'lastFrame'] = pictureOf(url, `frame_images[${at}]`);
  });
  if (references.length > 0)
    instance['referenceImages'] = references.map(({ media, url }, at) => {
      if (media !== 'image') throw invalid(`input_references[${at}]`, 'must be a picture at this provider');
      return { image: pictureOf(url, `input_references[${at}]`), referenceType: 'asset' };
    });
  return {
    method: 'POST',
    path: `/models/${model}:predictLongRunning`,
    body: {
      instances: [instance],
      parameters: withOptions(
        {
          sampleCount: 1,
          ...(aspectRatio !== undefined && { aspectRatio }),
          ...(resolution !== undefined && { resolution }),
          ...(durationS !== undefined && { durationSeconds: durationS }),
          ...(seed !== undefined && { seed }),
        },
        optionsFor(operation, provider),
      ),
    },
    warnings: audioWarnings(operation),
  };
}

/** The Gemini API has no member for it: its models make sound by themselves. */
function audioWarnings({ generateAudio }: VideoOperation): readonly Warning[] {
  if (generateAudio !== true) return [];
  return [{ code: 'field-dropped', path: 'generate_audio', message: 'the model makes sound by itself' }];
}

function pictureOf(url: string, path: string): JsonObject {
  const { mediaType, base64 } = dataUrlParts(url, path);
  return { bytesBase64Encoded: base64, mimeType: mediaType };
}

function decodeJob(_status: number, body: JsonObject | undefined): UpstreamJob {
  if (body === undefined) throw new UnreadableVideo('The operation is empty.');
  if (body['done'] !== true) return { state: 'in_progress' };
  const error = objectAt(body['error']);
  if (error !== undefined) {
    const message = textAt(error['message']);
    return { state: 'failed', isModerated: isPolicy(message), ...(message !== undefined && { message }) };
  }
  const made = objectAt(objectAt(body['response'])?.['generateVideoResponse']);
  const samples = made?.['generatedSamples'];
  const clips: Clip[] = [];
  for (const sample of Array.isArray(samples) ? samples : []) {
    const video = objectAt(objectAt(sample)?.['video']);
    const uri = textAt(video?.['uri']);
    if (uri !== undefined) clips.push({ url: uri });
  }
  if (clips.length > 0) return { state: 'completed', clips };
  // What the filters took out leaves an empty list, with the reasons beside it.
  const reasons = made?.['raiMediaFilteredReasons'];
  const reason = Array.isArray(reasons) ? textAt(reasons[0]) : undefined;
  const isModerated = reason !== undefined || Number(made?.['raiMediaFilteredCount'] ?? 0) > 0;
  return { state: 'failed', isModerated, ...(reason !== undefined && { message: reason }) };
}

function isPolicy(message: string | undefined): boolean {
  return message !== undefined && /safety|policy|polic(?:y|ies)|responsible ai|sensitive|prohibited/i.test(message);
}
