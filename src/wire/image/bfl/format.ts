import { invalid } from '../../../canonical/gateway-error.ts';
import { picturesOf, type ImageOperation } from '../../../canonical/image.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import { withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { VendorStep, VendorWait } from '../../operations/job.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget } from '../format.ts';
import { pixelsWanted, tierWanted } from '../geometry.ts';
import { boundedRatio, droppedWarnings, refuseMask } from '../words.ts';

/**
 * Black Forest Labs: a path for each model, and a job that is looked at where its answer says.
 * @source docs.bfl.ml "Integration guidelines", "Get Result"; black-forest-labs/skills, `references/endpoints.md`; vercel/ai,
 *   `black-forest-labs-image-model.ts`; all read 2026-11
 */
export const bflImages: ImageFormat = {
  id: 'image/bfl',
  streams: false,
  nMax: 1,
  encode,
  follow,
  decode,
  decodeError,
};

const OUTPUT_FORMATS: ReadonlySet<unknown> = new Set(['png', 'jpeg', undefined]);
/** Models that know ratios and no pixels. */
const BY_RATIO = /kontext|ultra/;
const SIDE_STEP = 16;
const SIDE_MIN = 64;
const PIXELS_MAX = 4_194_304;

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options }: ImageTarget): EncodedImage {
  const { prompt, seed, outputFormat } = operation;
  refuseMask(operation);
  if (!OUTPUT_FORMATS.has(outputFormat)) throw invalid('output_format', 'must be png or jpeg at this provider');
  const geometry = BY_RATIO.test(model) ? ratioOfRequest(operation) : sidesOf(operation);
  const source = encodeJsonWithFiles((place) =>
    withOptions(
      {
        prompt,
        ...geometry,
        ...(seed !== undefined && { seed }),
        ...(outputFormat !== undefined && { output_format: outputFormat }),
        ...Object.fromEntries(
          picturesOf(operation).map(({ file }, at) => [
            at === 0 ? 'input_image' : `input_image_${at + 1}`,
            place(file),
          ]),
        ),
      },
      options,
    ),
  );
  return {
    path: `/${encodePathSegment(model)}`,
    body: { source },
    warnings: droppedWarnings(operation, ['quality', 'background', 'output_compression', 'moderation']),
  };
}

function ratioOfRequest(operation: ImageOperation): JsonObject {
  tierWanted(operation, { '1K': '1K', '2K': '2K' });
  const ratio = boundedRatio(operation, '9:21', '21:9');
  return ratio === undefined ? {} : { aspect_ratio: ratio };
}

function sidesOf(operation: ImageOperation): JsonObject {
  const size = pixelsWanted(operation);
  if (size === undefined) return {};
  const { width, height } = size;
  const fits = [width, height].every((side) => side >= SIDE_MIN && side % SIDE_STEP === 0);
  if (fits && width * height <= PIXELS_MAX) return { width, height };
  const path = operation.size === undefined ? 'resolution' : 'size';
  throw invalid(path, `must have sides in steps of ${SIDE_STEP} and at most 4 megapixels at this provider`);
}

/** Words for a job that goes on; the vendor adds some now and then. */
const ENDED: ReadonlySet<unknown> = new Set([
  'Ready',
  'Error',
  'Failed',
  'Request Moderated',
  'Content Moderated',
  'Task not found',
]);

function follow(answer: JsonObject | undefined, waiting: VendorWait | undefined): VendorStep {
  if (answer === undefined) throw new NotThatJson();
  if (ENDED.has(answer['status'])) return { next: 'read' };
  if (waiting !== undefined) return waiting;
  const url = textOf(answer['polling_url']);
  if (url === undefined) throw new NotThatJson();
  return { next: 'wait', call: { method: 'GET', at: { url } } };
}

function decode(bytes: Buffer): DecodedImages {
  const answer = parseJsonObject(bytes.toString('utf8'));
  const status = textOf(answer?.['status']);
  if (answer === undefined || status === undefined) throw new NotThatJson();
  if (status.endsWith('Moderated')) return { refused: `The provider says: ${status}.` };
  const url = textOf(objectOf(answer['result'])?.['sample']);
  if (status === 'Ready' && url !== undefined) return { pictures: [{ url }] };
  return { error: { message: `The provider could not make the picture: ${status}.` } };
}
