import { invalid } from '../../canonical/gateway-error.ts';
import {
  hasRatio,
  IMAGE_TIERS,
  tierOf,
  type ImageClientShape,
  type ImageOperation,
  type ImageTier,
  type PictureInput,
} from '../../canonical/image.ts';
import type { Warning } from '../../canonical/extra.ts';
import { isOwnFileId } from '../../canonical/tools/stored-files.ts';
import type { Json } from '../../lib/json.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';
import type { PictureSize } from '../../lib/pictures/picture-size.ts';
import { restOf } from '../extra.ts';
import { decodeDirectives, modelOf } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { callersExtra, splitOptions } from '../provider-options.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { refuseMembers } from '../gateway/validation/refused-members.ts';
import {
  imageSchema,
  KNOWN_IMAGE_MEMBERS,
  REFERENCES_MAX,
  type NamedPicture,
  type ParsedImage,
} from './request-shape.ts';

const SIDE_MIN = 16;
const SIDE_MAX = 16_384;

export interface ImageBody {
  readonly body: Json;
  readonly text: string;
  readonly headers: HeaderDirectives;
  readonly shape: ImageClientShape;
  /** Of requests in the form of OpenAI's clients that name none. */
  readonly defaultModel: string | undefined;
  /** The files of a form, under the names of their fields. */
  readonly uploads: readonly { readonly field: string; readonly picture: PictureInput }[];
}

/** @throws GatewayError 400 with `issues` */
export function decodeImage({ body, text, headers, shape, defaultModel, uploads }: ImageBody): ImageOperation {
  const parsed = checkShape(imageSchema, body, { text });
  refuseMembers(parsed, 'pictures');
  const model = modelOf(parsed, shape === 'gateway' ? undefined : defaultModel);
  if (parsed.prompt.trim() === '') throw invalid('prompt', 'must not be empty');
  const references = [...uploaded(uploads, 'image'), ...referencesIn(parsed)];
  if (references.length > REFERENCES_MAX) throw invalid('image', `must be at most ${REFERENCES_MAX} pictures`);
  if (shape === 'edit' && references.length === 0) throw invalid('image', 'is required');
  const mask = uploaded(uploads, 'mask')[0] ?? (parsed.mask ? namedPicture(parsed.mask, 'mask') : undefined);
  if (mask !== undefined && references.length === 0) throw invalid('mask', 'needs a picture that it is for');
  if ((parsed['markup'] ?? uploaded(uploads, 'markup')[0]) !== undefined)
    throw invalid('markup', 'is not built: describe the change in the prompt, or use a mask');
  const { preferences, options } = splitOptions(parsed.provider);
  const rest = restOf(parsed, KNOWN_IMAGE_MEMBERS);
  const user = parsed.user ?? parsed.safety_identifier ?? undefined;
  return {
    kind: 'image',
    delivery: parsed.stream === true ? 'stream' : 'whole',
    prompt: parsed.prompt,
    n: parsed.n ?? 1,
    ...geometryOf(parsed),
    ...settingsOf(parsed),
    references,
    ...(mask !== undefined && { mask }),
    shape,
    responseFormat: parsed.response_format ?? 'b64_json',
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(
      {
        provider: preferences,
        ...(parsed.session_id && { session_id: parsed.session_id }),
        ...(parsed.trace && { trace: parsed.trace }),
      },
      headers,
      { model, user, metadata: parsed.metadata ?? undefined },
    ),
    ...(shape === 'gateway' ? {} : callersExtra('image/openai', rest)),
    warnings: [
      ...(parsed.style ? [dropped('style', 'no model has it any more')] : []),
      ...(parsed.response_format === 'url' ? [dataUrlWarning] : []),
      ...(shape === 'gateway' ? Object.keys(rest ?? {}).map((path) => dropped(path, UNKNOWN)) : []),
    ],
  };
}

const UNKNOWN = 'is no member of this request; members of a provider stand below provider.options';
const dataUrlWarning: Warning = {
  code: 'field-changed',
  path: 'response_format',
  message: 'the address of a picture is a data URL: no picture is kept here',
};

function dropped(path: string, message: string): Warning {
  return { code: 'field-dropped', path, message };
}

function settingsOf(parsed: ParsedImage) {
  const {
    output_format: format,
    output_compression: compression,
    background,
    quality,
    seed,
    partial_images: partial,
  } = parsed;
  if (typeof compression === 'number' && format !== 'jpeg' && format !== 'webp')
    throw invalid('output_compression', 'needs "output_format": "jpeg" or "webp"');
  if (background === 'transparent' && (format === 'jpeg' || format === 'gif'))
    throw invalid('background', `cannot be transparent in ${format}`);
  return {
    ...(quality && { quality }),
    ...(format && { outputFormat: format }),
    ...(typeof compression === 'number' && { outputCompression: compression }),
    ...(background && { background }),
    ...(typeof seed === 'number' && { seed }),
    ...(typeof partial === 'number' && { partialImages: partial }),
    ...(parsed.moderation && { moderation: parsed.moderation }),
  };
}

/** Pixels rule; a tier or a ratio beside them must say the same. @throws GatewayError 400 at what contradicts */
function geometryOf({
  size: text,
  resolution,
  aspect_ratio: ratio,
}: ParsedImage): Pick<ImageOperation, 'size' | 'tier' | 'aspectRatio'> {
  const aspectRatio = ratio && ratio !== 'auto' ? ratio : undefined;
  const sized = !text || text === 'auto' ? undefined : sizeOf(text);
  if (aspectRatio !== undefined && !/^(?!0+(?:\.0)?:)[^:]+:(?!0+(?:\.0)?$)/.test(aspectRatio))
    throw invalid('aspect_ratio', 'must be a ratio such as "16:9", or "auto"');
  if (typeof sized === 'string') {
    if (resolution && resolution !== sized) throw invalid('resolution', `contradicts the size ${sized}`);
    return { tier: sized, ...(aspectRatio !== undefined && { aspectRatio }) };
  }
  if (sized === undefined)
    return { ...(resolution && { tier: resolution }), ...(aspectRatio !== undefined && { aspectRatio }) };
  if (resolution && resolution !== tierOf(sized)) throw invalid('resolution', `contradicts the size ${text}`);
  if (aspectRatio !== undefined && !hasRatio(sized, aspectRatio))
    throw invalid('aspect_ratio', `contradicts the size ${text}`);
  return { size: sized };
}

function sizeOf(text: string): PictureSize | ImageTier {
  const tier = IMAGE_TIERS.find((one) => one === text.toUpperCase());
  if (tier !== undefined) return tier;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(text) ?? [];
  const size = { width: Number(width), height: Number(height) };
  const fits = (side: number): boolean => side >= SIDE_MIN && side <= SIDE_MAX;
  if (width !== undefined && fits(size.width) && fits(size.height)) return size;
  throw invalid(
    'size',
    `must be a width and a height from ${SIDE_MIN} to ${SIDE_MAX} ("1024x1024"), one of ${IMAGE_TIERS.join(', ')}, or "auto"`,
  );
}

function uploaded(uploads: ImageBody['uploads'], field: string): readonly PictureInput[] {
  return uploads.filter((one) => one.field === field).map(({ picture }) => picture);
}

function referencesIn({ input_references: references, image, images }: ParsedImage): readonly PictureInput[] {
  const own = (references ?? []).map(({ image_url: { url, file_id: fileId } }, at) => {
    const path = `input_references[${at}].image_url`;
    return fileId ? storedFile(fileId, `${path}.file_id`) : addressed(url ?? '', `${path}.url`);
  });
  const listed = Array.isArray(image) ? image.map((one, at) => namedPicture(one, `image[${at}]`)) : [];
  const single = image && !Array.isArray(image) ? [namedPicture(image, 'image')] : [];
  return [...own, ...listed, ...single, ...(images ?? []).map((one, at) => namedPicture(one, `images[${at}]`))];
}

function namedPicture(named: NamedPicture, path: string): PictureInput {
  if (typeof named === 'string') return addressed(named, path);
  const { url, image_url: image, file_id: fileId } = named;
  if (fileId) return storedFile(fileId, `${path}.file_id`);
  if (url) return addressed(url, `${path}.url`);
  const inner = typeof image === 'string' ? image : image?.url;
  if (!inner) throw invalid(path, 'must name a picture by its url');
  return addressed(inner, typeof image === 'string' ? `${path}.image_url` : `${path}.image_url.url`);
}

function storedFile(fileId: string, path: string): PictureInput {
  if (isOwnFileId(fileId)) return { path, fileId };
  throw invalid(path, 'is not the id of a file of the gateway: upload the picture to /files');
}

/** An address is fetched by the gateway, whichever provider serves. */
function addressed(url: string, path: string): PictureInput {
  if (dataUrlHead(url)?.isBase64 === true || /^https?:\/\//i.test(url)) return { path, url };
  throw invalid(path, 'must be an https address, or a data URL with base64');
}
