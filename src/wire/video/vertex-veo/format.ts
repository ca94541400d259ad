import { invalid } from '../../../canonical/gateway-error.ts';
import type { VideoOperation } from '../../../canonical/video.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { itemsOf } from '../../json-fields.ts';
import { decodeError } from '../../upstream-error.ts';
import {
  UnreadableVideo,
  type Clip,
  type EncodedVideo,
  type UpstreamJob,
  type VideoCall,
  type VideoFormat,
  type VideoTarget,
} from '../format.ts';
import { objectAt, textAt } from '../shared.ts';
import { failureIn, refusalOf, veoRequest } from '../veo/request.ts';

/**
 * Veo at Google Cloud: a long-running operation that is looked at by a POST of its name, and cannot be cancelled. The clip
 * stands in the last answer, or in a bucket where one was named.
 * @source cloud.google.com "Veo on Vertex AI video generation API"; google-genai 2.32, `GenerateVideosOperation`; read 2026-11
 */
export const vertexVeoVideo: VideoFormat = {
  id: 'video/vertex-veo',
  encode,
  decodeAccepted(body) {
    const name = textAt(body['name']);
    if (name === undefined || !OPERATION.test(name)) throw new UnreadableVideo('The operation has no name.');
    return name;
  },
  poll,
  decodeJob,
  clipMember: 'bytesBase64Encoded',
  decodeError,
};

const OPERATION =
  /^projects\/[\w.:-]{1,100}\/locations\/[\w-]{1,64}\/publishers\/google\/models\/([\w.-]{1,100})\/operations\/[\w-]{1,100}$/;

/** @throws GatewayError 400 for what it cannot say */
function encode(operation: VideoOperation, { model, provider, bucket }: VideoTarget): EncodedVideo {
  const name = nameOf(model);
  const { generateAudio } = operation;
  const isSilent = name.startsWith('veo-2');
  if (isSilent && generateAudio === true) throw invalid('generate_audio', 'is taken by newer models at this provider');
  return {
    method: 'POST',
    path: `/publishers/google/models/${encodePathSegment(name)}:predictLongRunning`,
    body: veoRequest(operation, provider, {
      // Models that make sound demand the member.
      ...(!isSilent && { generateAudio: generateAudio ?? true }),
      ...(bucket !== undefined && { storageUri: `${bucket}/` }),
    }),
    warnings: [],
  };
}

function nameOf(model: string): string {
  return model.replace(/^google\//, '');
}

function poll(operationName: string): VideoCall {
  const model = OPERATION.exec(operationName)?.[1] ?? '';
  return { method: 'POST', path: `/publishers/google/models/${model}:fetchPredictOperation`, body: { operationName } };
}

function decodeJob(_status: number, body: JsonObject | undefined): UpstreamJob {
  if (body === undefined) throw new UnreadableVideo('The operation is empty.');
  if (body['done'] !== true) return { state: 'in_progress' };
  const failure = failureIn(body);
  if (failure !== undefined) return failure;
  const made = objectAt(body['response']);
  const clips = itemsOf(made?.['videos']).flatMap((video): readonly Clip[] => {
    const url = textAt(isJsonObject(video) ? video['gcsUri'] : undefined);
    return url === undefined ? [] : [{ url }];
  });
  if (clips.length > 0) return { state: 'completed', clips };
  return { state: 'failed', ...refusalOf(made) };
}
