import type { ImageClientShape, ImageOperation } from '../../canonical/image.ts';
import type { RunOperation } from '../../pipeline/operation/operation-request.ts';
import { IMAGE_FIELDS } from '../../wire/image/request-shape.ts';
import { decodeImage } from '../../wire/image/request-in.ts';
import { encodeOperationError } from '../../wire/operations/operation-error.ts';
import type { FormBodyDeps, FormFile } from '../form/read-form-body.ts';
import { withFullNames } from './apply-preset.ts';
import { NodeCaller } from './node-caller.ts';
import { createBodyRoute, type BodyRouteDeps, type RawHandler } from './route.ts';

export interface ImagesRouteDeps extends Omit<BodyRouteDeps, 'forms'> {
  readonly run: RunOperation<ImageOperation>;
  readonly formBodies: FormBodyDeps;
  /** The slug that a model's name stands for. */
  readonly rename: (name: string) => string;
  /** Of requests in the form of OpenAI's clients that name none. */
  readonly defaultModel: string | undefined;
}

/** Sixteen pictures, a mask, and the markup that is refused by its name. */
const FILES_MAX = 18;
const PICTURE_BYTES_MAX = 20_971_520;
const RULES = {
  filesMax: FILES_MAX,
  fileBytesMax: PICTURE_BYTES_MAX,
  fileFields: new Set(['image', 'mask', 'markup']),
} as const;
const CALLER = { id: 'image', encodeError: encodeOperationError, requestIdHeader: 'x-request-id' } as const;

/** `POST /images`, and in the form of OpenAI's clients `POST /images/generations` and `POST /images/edits`. */
export function createImagesRoute(deps: ImagesRouteDeps, shape: ImageClientShape): RawHandler {
  const forms = { rules: RULES, types: IMAGE_FIELDS, ...deps.formBodies };
  const route = shape === 'edit' ? { ...deps, forms } : deps;
  return createBodyRoute(CALLER, route, async (admitted, response, arrivedMs) => {
    const { id, principal, place, body, text, files, turns, headers } = admitted;
    const sent = { body, text, headers, shape, defaultModel: deps.defaultModel, uploads: uploadsOf(files) };
    const request = withFullNames(decodeImage(sent), deps.rename);
    const incoming = { id, request, principal, arrivedMs, place, isLarge: turns !== undefined };
    await deps.run(incoming, new NodeCaller(response, CALLER, deps.unread));
  });
}

function uploadsOf(files: readonly FormFile[]) {
  const total = files.filter(({ field }) => field === 'image').length;
  let at = 0;
  return files.map(({ field, file }) => ({
    field,
    picture: { path: field === 'image' && total > 1 ? `image[${at++}]` : field, upload: file },
  }));
}
