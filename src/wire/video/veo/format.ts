import type { Warning } from '../../../canonical/extra.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeError } from '../../upstream-error.ts';
import {
  UnreadableVideo,
  type Clip,
  type EncodedVideo,
  type UpstreamJob,
  type VideoFormat,
  type VideoTarget,
} from '../format.ts';
import { objectAt, textAt } from '../shared.ts';
import { failureIn, refusalOf, veoRequest } from './request.ts';

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
    if (name === undefined || !/^[\w.-]{1,200}(?:\/[\w.-]{1,200}){1,7}$/.test(name) || name.includes('..'))
      throw new UnreadableVideo('The operation has no name.');
    return name;
  },
  poll: (name) => ({ method: 'GET', path: `/${name}` }),
  decodeJob,
  decodeError,
};

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider }: VideoTarget): EncodedVideo {
  return {
    method: 'POST',
    path: `/models/${model}:predictLongRunning`,
    body: veoRequest(operation, provider),
    warnings: audioWarnings(operation),
  };
}

/** The Gemini API has no member for it: its models make sound by themselves. */
function audioWarnings({ generateAudio }: VideoOperation): readonly Warning[] {
  if (generateAudio !== true) return [];
  return [{ code: 'field-dropped', path: 'generate_audio', message: 'the model makes sound by itself' }];
}

function decodeJob(_status: number, body: JsonObject | undefined): UpstreamJob {
  if (body === undefined) throw new UnreadableVideo('The operation is empty.');
  if (body['done'] !== true) return { state: 'in_progress' };
  const failure = failureIn(body);
  if (failure !== undefined) return failure;
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
  return { state: 'failed', ...refusalOf(made) };
}
