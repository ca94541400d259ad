import { isJsonObject, type Json } from '../../lib/json.ts';
import type { RunVideo } from '../../video-jobs/run-video.ts';
import { encodeOperationError } from '../../wire/operations/operation-error.ts';
import type { FormFieldTypes } from '../../wire/gateway/validation/form-fields.ts';
import { decodeVideo, type VideoDefaults } from '../../wire/video/request-in.ts';
import type { FormBodyDeps, FormFile } from '../form/read-form-body.ts';
import { withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface VideosRouteDeps extends Omit<BodyRouteDeps, 'forms'> {
  readonly run: RunVideo;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
  readonly videoDefaults: Pick<VideoDefaults, 'model'>;
  readonly formBodies: FormBodyDeps;
}

const CALLER = { id: 'video', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;
/** OpenAI's client sends the first picture as a file. */
const PICTURE_FIELD = 'input_reference';
const PICTURE_BYTES_MAX = 20_971_520;
const FORM_RULES = { filesMax: 1, fileBytesMax: PICTURE_BYTES_MAX, fileFields: new Set([PICTURE_FIELD]) } as const;
const FORM_TYPES: FormFieldTypes = {
  duration: 'number',
  generate_audio: 'boolean',
  seed: 'number',
  upscale_factor: 'number',
  creativity: 'number',
  frame_images: 'json',
  input_references: 'json',
  provider: 'json',
  trace: 'json',
  metadata: 'json',
};

/** `POST /videos`. */
export function createVideosRoute(deps: VideosRouteDeps): RawHandler {
  const forms = { rules: FORM_RULES, types: FORM_TYPES, ...deps.formBodies };
  return createBodyRoute(CALLER, { ...deps, forms }, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, files, turns, headers, isForm } = admitted;
    const whole = await withPicture(body, files);
    const defaults = { ...deps.videoDefaults, isForm };
    const request = withFullNames(decodeVideo(whole, text, headers, defaults), deps.rename);
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    await deps.run(incoming, new NodeCaller(response, CALLER, deps.unread));
  });
}

const ADDRESS_FIELD = `${PICTURE_FIELD}[image_url]`;

/** The picture of a form in the place where JSON has it: its own bytes say what it is. */
async function withPicture(body: Json, [picture]: readonly FormFile[]): Promise<Json> {
  if (!isJsonObject(body)) return body;
  const { [ADDRESS_FIELD]: address, ...rest } = body;
  if (picture !== undefined) {
    const bytes = await picture.file.read(0, picture.file.bytes);
    return { ...rest, [PICTURE_FIELD]: `data:application/octet-stream;base64,${bytes.toString('base64')}` };
  }
  return address === undefined ? body : { ...rest, [PICTURE_FIELD]: address };
}
