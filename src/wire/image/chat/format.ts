import { invalid } from '../../../canonical/gateway-error.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { picturesOf, sizeText, type ImageOperation } from '../../../canonical/image.ts';
import { tokenCount } from '../../../canonical/usage.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { MEDIA_TYPE_OF_PICTURE } from '../../../lib/pictures/picture-type.ts';
import { withOptions } from '../../provider-options.ts';
import { decodeError, parseError } from '../../upstream-error.ts';
import { base64At, isDataUrlAt } from '../base64-text.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget, ImageTokens, RawPicture } from '../format.ts';

/**
 * Models that draw in the chat format: `modalities`, and pictures as `message.images`.
 * @source openrouter.ai/docs "Image Generation"; vercel.com/docs "AI Gateway, Image Generation"; both read 2026-11
 */
export const chatImages: ImageFormat = {
  id: 'image/chat',
  streams: false,
  nMax: 1,
  encode,
  decode,
  decodeError,
};

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options, endUserId }: ImageTarget): EncodedImage {
  if (operation.mask !== undefined) throw invalid('mask', 'is taken by no endpoint of this provider');
  const config = configOf(operation);
  const source = encodeJsonWithFiles((place) =>
    withOptions(
      {
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: operation.prompt },
              ...picturesOf(operation).map(({ file, type }) => ({
                type: 'image_url',
                image_url: { url: `data:${MEDIA_TYPE_OF_PICTURE[type]};base64,${place(file)}` },
              })),
            ],
          },
        ],
        modalities: ['image', 'text'],
        ...(Object.keys(config).length > 0 && { image_config: config }),
        ...(operation.seed !== undefined && { seed: operation.seed }),
        ...(operation.directives.user !== undefined && { user: endUserId }),
      },
      options,
    ),
  );
  return { path: '/chat/completions', body: { source }, warnings: droppedWarnings(operation) };
}

function configOf({ size, tier, aspectRatio, quality, background, outputFormat }: ImageOperation): JsonObject {
  return {
    ...(size !== undefined && { size: sizeText(size) }),
    ...(tier !== undefined && { image_size: tier }),
    ...(aspectRatio !== undefined && { aspect_ratio: aspectRatio }),
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
    ...(outputFormat !== undefined && { output_format: outputFormat }),
  };
}

function droppedWarnings({ outputCompression, moderation }: ImageOperation): readonly Warning[] {
  return Object.entries({ output_compression: outputCompression, moderation }).flatMap(([path, value]) =>
    value === undefined ? [] : [{ code: 'field-dropped' as const, path, message: 'the provider has no member for it' }],
  );
}

/** Walks over the bytes: pictures stay as they are. */
function decode(bytes: Buffer): DecodedImages {
  const pictures: RawPicture[] = [];
  const small: Record<string, unknown> = {};
  let isKnown = false;
  let finish: unknown;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'choices') {
      isKnown = true;
      return eachItem(bytes, at, (_choice, from) =>
        eachMember(bytes, from, (member, value) => {
          if (member === 'message' && bytes[value] === 0x7b) return messageAt(bytes, value, pictures);
          if (member !== 'finish_reason') return undefined;
          const end = endOfValue(bytes, value);
          finish = valueAt(bytes, value, end);
          return end;
        }),
      );
    }
    if (!['usage', 'id', 'created', 'error'].includes(name)) return undefined;
    const end = endOfValue(bytes, at);
    small[name] = valueAt(bytes, at, end);
    return end;
  });
  const { error, id, created } = small;
  if (isJsonObject(error) || typeof error === 'string') return { error: parseError({ error }) };
  if (!isKnown) throw new NotThatJson();
  if (pictures.length === 0 && finish === 'content_filter')
    return { refused: 'The picture was withheld by the content filter of the provider.' };
  const tokens = tokensOf(small['usage']);
  return {
    pictures,
    ...(tokens !== undefined && { tokens }),
    ...(typeof id === 'string' && { id }),
    ...(typeof created === 'number' && Number.isSafeInteger(created) && { facts: { created } }),
  };
}

/** `images`, or parts of `content`: both are lists of `image_url`. */
function messageAt(bytes: Buffer, at: number, into: RawPicture[]): number {
  return eachMember(bytes, at, (name, listAt) => {
    if ((name !== 'images' && name !== 'content') || bytes[listAt] !== 0x5b) return undefined;
    return eachItem(bytes, listAt, (_part, partAt) => {
      if (bytes[partAt] !== 0x7b) return undefined;
      return eachMember(bytes, partAt, (member, value) => {
        if (member !== 'image_url' || bytes[value] !== 0x7b) return undefined;
        return eachMember(bytes, value, (inner, urlAt) => {
          if (inner !== 'url' || bytes[urlAt] !== 0x22) return undefined;
          if (isDataUrlAt(bytes, urlAt)) {
            const { base64, end } = base64At(bytes, urlAt);
            into.push({ base64 });
            return end;
          }
          const end = endOfValue(bytes, urlAt);
          const url = valueAt(bytes, urlAt, end);
          if (typeof url === 'string' && url !== '') into.push({ url });
          return end;
        });
      });
    });
  });
}

function tokensOf(usage: unknown): ImageTokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens_details: inputs, completion_tokens_details: outputs } = usage;
  const input = tokenCount(usage['prompt_tokens']);
  const output = tokenCount(usage['completion_tokens']);
  const inputImages = isJsonObject(inputs) ? tokenCount(inputs['image_tokens']) : undefined;
  const outputImages = isJsonObject(outputs) ? tokenCount(outputs['image_tokens']) : undefined;
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input !== undefined && { input }),
    ...(inputImages !== undefined && { inputImages }),
    ...(output !== undefined && { output }),
    ...(outputImages !== undefined && { outputImages }),
  };
}
