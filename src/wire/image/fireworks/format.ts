import { invalid } from '../../../canonical/gateway-error.ts';
import { picturesOf, type ImageOperation } from '../../../canonical/image.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { toBase64 } from '../../../lib/pictures/base64-picture.ts';
import { pictureTypeOf } from '../../../lib/pictures/picture-type.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import { withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { VendorStep, VendorWait } from '../../operations/job.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget } from '../format.ts';
import { ratioWanted, tierWanted } from '../geometry.ts';
import { dataUrlOf, droppedWarnings, refuseMask } from '../words.ts';

/**
 * FLUX at Fireworks: a workflow for each model. Those of text answer with the bytes of a picture, Kontext with a job.
 * @source docs.fireworks.ai "Generate an image with FLUX.1 [schnell] FP8", "Generate or edit image using FLUX.1 Kontext",
 *   "Get generated image from FLUX.1 Kontext"; vercel/ai, `fireworks-image-model.ts`; all read 2026-11
 */
export const fireworksImages: ImageFormat = {
  id: 'image/fireworks',
  streams: false,
  nMax: 1,
  encode,
  follow,
  decode,
  decodeError,
};

const RATIOS = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4'];
const KONTEXT = /kontext/;

function workflowOf(model: string): string {
  return `/workflows/${model.split('/').map(encodePathSegment).join('/')}`;
}

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options }: ImageTarget): EncodedImage {
  const { prompt, seed, outputFormat, references } = operation;
  refuseMask(operation);
  const isJob = KONTEXT.test(model);
  const [first, second] = references;
  if (first !== undefined && !isJob) throw invalid(first.path, 'this model makes pictures of words alone');
  if (second !== undefined) throw invalid(second.path, 'is one picture too many here');
  if (outputFormat !== undefined && outputFormat !== 'png' && outputFormat !== 'jpeg')
    throw invalid('output_format', 'must be png or jpeg at this provider');
  tierWanted(operation, { '1K': '1K' });
  const ratio = ratioWanted(operation, RATIOS);
  const source = encodeJsonWithFiles((place) =>
    withOptions(
      {
        prompt,
        ...(ratio !== undefined && { aspect_ratio: ratio }),
        ...(seed !== undefined && { seed }),
        ...(isJob && outputFormat !== undefined && { output_format: outputFormat }),
        ...Object.fromEntries(picturesOf(operation).map((picture) => ['input_image', dataUrlOf(picture, place)])),
      },
      options,
    ),
  );
  return {
    path: isJob ? workflowOf(model) : `${workflowOf(model)}/text_to_image`,
    body: { source },
    accept: isJob ? 'application/json' : `image/${outputFormat ?? 'png'}`,
    warnings: droppedWarnings(operation, ['quality', 'background', 'output_compression', 'moderation']),
  };
}

const RUNNING: ReadonlySet<unknown> = new Set(['Pending', 'Queued', 'Processing', undefined]);

function follow(answer: JsonObject | undefined, waiting: VendorWait | undefined, { model }: ImageTarget): VendorStep {
  // The picture itself.
  if (answer === undefined && !KONTEXT.test(model)) return { next: 'read' };
  if (answer === undefined) throw new NotThatJson();
  if (waiting !== undefined) return RUNNING.has(answer['status']) ? waiting : { next: 'read' };
  const id = textOf(answer['request_id']);
  if (id === undefined) throw new NotThatJson();
  return { next: 'wait', call: { method: 'POST', at: { path: `${workflowOf(model)}/get_result` }, body: { id } } };
}

function decode(bytes: Buffer): DecodedImages {
  if (pictureTypeOf(bytes) !== undefined) return { pictures: [{ base64: toBase64(bytes) }] };
  const answer = parseJsonObject(bytes.toString('utf8'));
  const status = textOf(answer?.['status']);
  if (answer === undefined || status === undefined) throw new NotThatJson();
  if (status.endsWith('Moderated')) return { refused: `The provider says: ${status}.` };
  const url = textOf(objectOf(answer['result'])?.['sample']);
  if (status === 'Ready' && url !== undefined) return { pictures: [{ url }] };
  return { error: { message: `The provider could not make the picture: ${status}.` } };
}
