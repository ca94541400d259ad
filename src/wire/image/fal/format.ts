import { invalid } from '../../../canonical/gateway-error.ts';
import { picturesOf, type ImageOperation } from '../../../canonical/image.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { falPath, followFal, decodeFalError, failureOfFal } from '../../operations/fal-queue.ts';
import { itemsOf, objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { withOptions } from '../../provider-options.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget } from '../format.ts';
import { pixelsWanted, tierWanted } from '../geometry.ts';
import { dataUrlOf, droppedWarnings, exactRatio, refuseMask } from '../words.ts';

/**
 * Models at fal, by its queue.
 * @source fal.ai/docs "Queue" and the pages of its models; vercel/ai, `fal-image-model.ts`; all read 2026-11
 */
export const falImages: ImageFormat = {
  id: 'image/fal',
  streams: false,
  nMax: 4,
  encode,
  follow: followFal,
  decode,
  decodeError: decodeFalError,
};

const OUTPUT_FORMATS: ReadonlySet<unknown> = new Set(['png', 'jpeg', undefined]);
/** Models that know ratios and no pixels. */
const BY_RATIO = /kontext|ultra|nano-banana|imagen/;
/** Models that take a list of pictures, whatever their number. */
const BY_LIST = /\/(?:edit|multi)(?:\/|$)/;

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options }: ImageTarget): EncodedImage {
  const { prompt, n, seed, outputFormat } = operation;
  refuseMask(operation);
  if (!OUTPUT_FORMATS.has(outputFormat)) throw invalid('output_format', 'must be png or jpeg at this provider');
  const geometry = BY_RATIO.test(model) ? ratioOfRequest(operation) : sizeOfRequest(operation);
  const source = encodeJsonWithFiles((place) => {
    const urls = picturesOf(operation).map((picture) => dataUrlOf(picture, place));
    const isList = urls.length > 1 || BY_LIST.test(model);
    return withOptions(
      {
        prompt,
        ...(n > 1 && { num_images: n }),
        ...geometry,
        ...(seed !== undefined && { seed }),
        ...(outputFormat !== undefined && { output_format: outputFormat }),
        ...(urls.length > 0 && (isList ? { image_urls: urls } : { image_url: urls[0] ?? '' })),
      },
      options,
    );
  });
  return {
    path: falPath(model),
    body: { source },
    warnings: droppedWarnings(operation, ['quality', 'background', 'output_compression', 'moderation']),
  };
}

function ratioOfRequest(operation: ImageOperation): JsonObject {
  tierWanted(operation, { '1K': '1K' });
  const ratio = exactRatio(operation);
  return ratio === undefined ? {} : { aspect_ratio: ratio };
}

function sizeOfRequest(operation: ImageOperation): JsonObject {
  const size = pixelsWanted(operation);
  return size === undefined ? {} : { image_size: { width: size.width, height: size.height } };
}

function decode(bytes: Buffer): DecodedImages {
  const answer = parseJsonObject(bytes.toString('utf8'));
  if (answer === undefined) throw new NotThatJson();
  const failure = failureOfFal(answer);
  if (failure !== undefined) return failure.isRefusal ? { refused: failure.message } : { error: failure };
  const single = objectOf(answer['image']);
  const images = single === undefined ? objectsOf(answer['images']) : [single];
  if (images.length === 0) throw new NotThatJson();
  // What its checker took away comes as a black picture.
  const flags = itemsOf(answer['has_nsfw_concepts']);
  const kept = images.filter((_image, at) => flags[at] !== true);
  if (kept.length === 0) return { refused: 'The safety checker of the provider withheld the picture.' };
  return {
    pictures: kept.flatMap((image) => {
      const url = textOf(image['url']);
      return url === undefined ? [] : [{ url }];
    }),
  };
}
