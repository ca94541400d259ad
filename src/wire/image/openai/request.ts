import { invalid } from '../../../canonical/gateway-error.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { pictureOf, picturesOf, sizeText, type ImageOperation, type PictureFile } from '../../../canonical/image.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { encodeForm, type FormPart } from '../../../lib/net/form-body.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { MEDIA_TYPE_OF_PICTURE } from '../../../lib/pictures/picture-type.ts';
import { withOptions } from '../../provider-options.ts';
import type { ImageDialect } from '../dialect.ts';
import type { EncodedImage, ImageTarget } from '../format.ts';
import { pixelsWanted, ratioWanted, tierWanted } from '../geometry.ts';

const GENERATIONS = '/images/generations';
const EDITS = '/images/edits';

/** @throws GatewayError 400 for what the host has no word for */
export function encodeRequest(operation: ImageOperation, target: ImageTarget): EncodedImage {
  const { dialect } = target;
  const { references, mask } = operation;
  const { fields, warnings } = fieldsOf(operation, target);
  const { edits = 'form' } = dialect;
  if (mask !== undefined && edits !== 'form') throw invalid('mask', 'is taken by no endpoint of this provider');
  if (references.length === 0)
    return { path: GENERATIONS, body: { json: withOptions(fields, target.options) }, warnings };
  if (edits === 'form')
    return {
      path: EDITS,
      body: { source: encodeForm(formOf(withOptions(fields, target.options), operation)) },
      warnings,
    };
  const pictures = picturesOf(operation);
  const [second] = references.slice(1);
  if (edits === 'image_url' && second !== undefined) throw invalid(second.path, 'is one picture too many here');
  const source = encodeJsonWithFiles((place) => {
    const urls = pictures.map(({ file, type }) => `data:${MEDIA_TYPE_OF_PICTURE[type]};base64,${place(file)}`);
    return withOptions({ ...fields, ...picturesIn(urls, edits) }, target.options);
  });
  return { path: edits === 'image_url' ? GENERATIONS : EDITS, body: { source }, warnings };
}

/** @source vercel/ai, `xai-image-model.ts` and `togetherai-image-model.ts` (2026-11) */
function picturesIn(urls: readonly string[], edits: 'json' | 'image_url'): JsonObject {
  const [first = ''] = urls;
  if (edits === 'image_url') return { image_url: first };
  const objects = urls.map((url) => ({ url, type: 'image_url' }));
  return objects.length === 1 ? { image: { url: first, type: 'image_url' } } : { images: objects };
}

interface Fields {
  readonly fields: JsonObject;
  readonly warnings: readonly Warning[];
}

/** All members but for pictures. None is ever null. */
function fieldsOf(operation: ImageOperation, { model, endUserId, stream, dialect }: ImageTarget): Fields {
  const { prompt, n, extra, directives, partialImages } = operation;
  const { members, base64Word } = dialect;
  const optional: JsonObject = {
    ...(operation.quality !== undefined && { quality: operation.quality }),
    ...(operation.background !== undefined && { background: operation.background }),
    ...(operation.outputFormat !== undefined && { output_format: operation.outputFormat }),
    ...(operation.outputCompression !== undefined && { output_compression: operation.outputCompression }),
    ...(operation.moderation !== undefined && { moderation: operation.moderation }),
    ...(operation.seed !== undefined && { seed: operation.seed }),
  };
  const names = Object.keys(optional);
  const dropped = members === undefined ? [] : names.filter((name) => !members.has(name));
  const sent = Object.fromEntries(Object.entries(optional).filter(([name]) => !dropped.includes(name)));
  const takesUser = directives.user !== undefined && members?.has('user') !== false;
  return {
    fields: {
      ...(extra?.format === 'image/openai' && extra.fields),
      model,
      prompt: dialect.readsPromptTag === true ? withoutTag(prompt) : prompt,
      ...(n > 1 && { n }),
      ...geometryOf(operation, dialect),
      ...sent,
      ...(base64Word !== undefined && { response_format: base64Word }),
      ...(stream && { stream: true, ...(partialImages !== undefined && { partial_images: partialImages }) }),
      ...(takesUser && { user: endUserId }),
    },
    warnings: dropped.map((path) => ({ code: 'field-dropped', path, message: 'the provider has no member for it' })),
  };
}

function geometryOf(
  operation: ImageOperation,
  { geometry = 'size', ratios = [], tiers = {} }: ImageDialect,
): JsonObject {
  if (geometry === 'ratio') {
    const ratio = ratioWanted(operation, ratios);
    const tier = tierWanted(operation, tiers);
    return { ...(ratio !== undefined && { aspect_ratio: ratio }), ...(tier !== undefined && { resolution: tier }) };
  }
  const size = pixelsWanted(operation);
  if (size === undefined) return {};
  return geometry === 'sides' ? { ...size } : { size: sizeText(size) };
}

/** @source leejet/stable-diffusion.cpp, `examples/server` (2026-11) */
const TAG = /<sd_cpp_extra_args>[\s\S]*?(?:<\/sd_cpp_extra_args>|$)/gi;

/** What is left between two of them may be one again. */
function withoutTag(prompt: string): string {
  let left = prompt;
  for (let next = left.replaceAll(TAG, ''); next !== left; next = left.replaceAll(TAG, '')) left = next;
  return left;
}

function formOf(fields: JsonObject, operation: ImageOperation): readonly FormPart[] {
  const name = operation.references.length === 1 ? 'image' : 'image[]';
  return [
    ...Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [textPart(field, value)])),
    ...picturesOf(operation).map((picture, at) => filePart(name, `image-${at}`, picture)),
    ...(operation.mask === undefined ? [] : [filePart('mask', 'mask', pictureOf(operation.mask))]),
  ];
}

function textPart(name: string, value: Json): FormPart {
  return { name, value: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** The caller's own name for the file does not leave. */
function filePart(name: string, stem: string, { file, type }: PictureFile): FormPart {
  return { name, file, filename: `${stem}.${type === 'jpeg' ? 'jpg' : type}`, type: MEDIA_TYPE_OF_PICTURE[type] };
}
