import { invalid } from '../../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { optionsFor, withOptions } from '../../provider-options.ts';
import type { UpstreamJob } from '../format.ts';
import { dataUrlParts, objectAt, textAt } from '../shared.ts';

const SIZES: Readonly<Record<string, { readonly resolution: string; readonly aspectRatio: string }>> = {
  '1280x720': { resolution: '720p', aspectRatio: '16:9' },
  '720x1280': { resolution: '720p', aspectRatio: '9:16' },
  '1920x1080': { resolution: '1080p', aspectRatio: '16:9' },
  '1080x1920': { resolution: '1080p', aspectRatio: '9:16' },
  '3840x2160': { resolution: '4k', aspectRatio: '16:9' },
  '2160x3840': { resolution: '4k', aspectRatio: '9:16' },
};

/**
 * A request for a clip of Veo, which is the same at both of Google's hosts but for what each adds.
 * @param further parameters of the host alone
 * @throws GatewayError 400 for what it cannot say
 */
export function veoRequest(operation: VideoOperation, provider: string, further: JsonObject = {}): JsonObject {
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
    instances: [instance],
    parameters: withOptions(
      {
        sampleCount: 1,
        ...(aspectRatio !== undefined && { aspectRatio }),
        ...(resolution !== undefined && { resolution }),
        ...(durationS !== undefined && { durationSeconds: durationS }),
        ...(seed !== undefined && { seed }),
        ...further,
      },
      optionsFor(operation, provider),
    ),
  };
}

function pictureOf(url: string, path: string): JsonObject {
  const { mediaType, base64 } = dataUrlParts(url, path);
  return { bytesBase64Encoded: base64, mimeType: mediaType };
}

/** What an operation that made no clip says of the filters. */
export function refusalOf(made: JsonObject | undefined): { readonly isModerated: boolean; readonly message?: string } {
  const reasons = made?.['raiMediaFilteredReasons'];
  const reason = Array.isArray(reasons) ? textAt(reasons[0]) : undefined;
  const isModerated = reason !== undefined || Number(made?.['raiMediaFilteredCount'] ?? 0) > 0;
  return { isModerated, ...(reason !== undefined && { message: reason }) };
}

/** The error of an operation that ended with one. */
export function failureIn(operation: JsonObject): Extract<UpstreamJob, { state: 'failed' }> | undefined {
  const error = objectAt(operation['error']);
  if (error === undefined) return undefined;
  const message = textAt(error['message']);
  return { state: 'failed', isModerated: isPolicy(message), ...(message !== undefined && { message }) };
}

function isPolicy(message: string | undefined): boolean {
  return message !== undefined && /safety|policy|polic(?:y|ies)|responsible ai|sensitive|prohibited/i.test(message);
}
