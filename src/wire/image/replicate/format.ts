import { invalid } from '../../../canonical/gateway-error.ts';
import { picturesOf, type ImageOperation } from '../../../canonical/image.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { withOptions } from '../../provider-options.ts';
import {
  cancelPrediction,
  endOfPrediction,
  getPrediction,
  predictionId,
  predictionOf,
} from '../../operations/replicate-predictions.ts';
import { decodeError } from '../../upstream-error.ts';
import type { VendorStep, VendorWait } from '../../operations/job.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget } from '../format.ts';
import { ratioWanted, tierWanted } from '../geometry.ts';
import { dataUrlOf, droppedWarnings, refuseMask } from '../words.ts';

/**
 * Models at Replicate. Each has members of its own; those here are the ones that its official models for pictures share.
 * @source replicate.com/docs "HTTP API", the schema of `black-forest-labs/flux-1.1-pro`; vercel/ai, `replicate-image-model.ts`;
 *   all read 2026-11
 */
export const replicateImages: ImageFormat = {
  id: 'image/replicate',
  streams: false,
  nMax: 4,
  encode,
  follow,
  decode,
  decodeError,
};

const RATIOS = ['1:1', '16:9', '9:16', '3:2', '2:3', '4:3', '3:4', '4:5', '5:4', '21:9', '9:21'];
const OUTPUT_WORDS = { png: 'png', jpeg: 'jpg', webp: 'webp' } as const;
/** Models that are known to take a picture by this name. */
const BY_INPUT_IMAGE = /kontext/;
/** Fast models answer within it; a caller that hangs up meanwhile leaves a prediction that nothing names yet. */
const HELD_OPEN = 'wait=5';

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options }: ImageTarget): EncodedImage {
  const { prompt, n, seed, outputFormat, references } = operation;
  refuseMask(operation);
  const [first, second] = references;
  if (first !== undefined && !BY_INPUT_IMAGE.test(model))
    throw invalid(first.path, 'pictures are not sent to this model: each model there has a name of its own for them');
  if (second !== undefined) throw invalid(second.path, 'is one picture too many here');
  if (outputFormat === 'svg' || outputFormat === 'gif')
    throw invalid('output_format', 'must be one of png, jpeg, webp at this provider');
  tierWanted(operation, { '1K': '1K' });
  const ratio = ratioWanted(operation, RATIOS);
  const { path } = predictionOf(model, {});
  const source = encodeJsonWithFiles((place) => {
    const input = withOptions(
      {
        prompt,
        ...(ratio !== undefined && { aspect_ratio: ratio }),
        ...(seed !== undefined && { seed }),
        ...(n > 1 && { num_outputs: n }),
        ...(outputFormat !== undefined && { output_format: OUTPUT_WORDS[outputFormat] }),
        ...Object.fromEntries(picturesOf(operation).map((picture) => ['input_image', dataUrlOf(picture, place)])),
      },
      options,
    );
    return predictionOf(model, input).body;
  });
  return {
    path,
    body: { source },
    headers: { prefer: HELD_OPEN },
    warnings: droppedWarnings(operation, ['quality', 'background', 'output_compression', 'moderation']),
  };
}

function follow(answer: JsonObject | undefined, waiting: VendorWait | undefined): VendorStep {
  if (answer === undefined) throw new NotThatJson();
  if (endOfPrediction(answer) !== undefined) return { next: 'read' };
  if (waiting !== undefined) return waiting;
  const id = predictionId(answer);
  return { next: 'wait', call: getPrediction(id), cancel: cancelPrediction(id) };
}

function decode(bytes: Buffer): DecodedImages {
  const answer = parseJsonObject(bytes.toString('utf8'));
  const end = answer && endOfPrediction(answer);
  if (answer === undefined || end === undefined) throw new NotThatJson();
  const id = predictionId(answer);
  if ('urls' in end) return { pictures: end.urls.map((url) => ({ url })), id };
  return end.isRefusal ? { refused: end.failed } : { error: { message: end.failed } };
}
