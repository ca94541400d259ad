import { picturesOf, type ImageOperation } from '../../../canonical/image.ts';
import { tokenCount } from '../../../canonical/usage.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodeJsonWithFiles } from '../../../lib/net/json-with-files.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { MEDIA_TYPE_OF_PICTURE } from '../../../lib/pictures/picture-type.ts';
import { withOptions } from '../../provider-options.ts';
import { decodeError, parseError } from '../../upstream-error.ts';
import { base64At } from '../base64-text.ts';
import type { DecodedImages, EncodedImage, ImageFormat, ImageTarget, ImageTokens } from '../format.ts';
import { ratioWanted, tierWanted } from '../geometry.ts';
import { droppedWarnings, refuseMask } from '../words.ts';

/**
 * Models of Google's that draw in a conversation.
 * @source ai.google.dev "Image generation" and `GenerateContentResponse`, @google/genai 2.32 (2026-11)
 */
export const geminiImages: ImageFormat = {
  id: 'image/gemini',
  streams: false,
  nMax: 1,
  encode,
  decode,
  decodeError,
};

const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9', '1:4', '4:1', '1:8', '8:1'];
const SIZES = { '512': '512', '1K': '1K', '2K': '2K', '4K': '4K' } as const;

/** @throws GatewayError 400 for what it has no word for */
function encode(operation: ImageOperation, { model, options }: ImageTarget): EncodedImage {
  refuseMask(operation);
  const ratio = ratioWanted(operation, RATIOS);
  const tier = tierWanted(operation, SIZES);
  const config: JsonObject = {
    ...(ratio !== undefined && { aspectRatio: ratio }),
    ...(tier !== undefined && { imageSize: tier }),
  };
  const source = encodeJsonWithFiles((place) =>
    withOptions(
      {
        contents: [
          {
            role: 'user',
            parts: [
              { text: operation.prompt },
              ...picturesOf(operation).map(({ file, type }) => ({
                inlineData: { mimeType: MEDIA_TYPE_OF_PICTURE[type], data: place(file) },
              })),
            ],
          },
        ],
        generationConfig: {
          responseModalities: ['IMAGE'],
          ...(Object.keys(config).length > 0 && { imageConfig: config }),
          ...(operation.seed !== undefined && { seed: operation.seed }),
        },
      },
      options,
    ),
  );
  return {
    path: `/models/${encodePathSegment(model)}:generateContent`,
    body: { source },
    warnings: droppedWarnings(operation, [
      'quality',
      'background',
      'output_format',
      'output_compression',
      'moderation',
    ]),
  };
}

/** Reasons of its to end with nothing, each of which is about what was requested. */
const REFUSALS = /^(?:IMAGE_)?(?:SAFETY|PROHIBITED_CONTENT|BLOCKLIST|RECITATION|SPII)$/;

/** Walks over the bytes: pictures stay as they are. */
function decode(bytes: Buffer): DecodedImages {
  const pictures: Buffer[] = [];
  const small: Record<string, unknown> = {};
  let finish: unknown;
  let isKnown = false;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'candidates') {
      isKnown = true;
      return eachItem(bytes, at, (_item, from) =>
        eachMember(bytes, from, (member, value) => {
          if (member === 'content' && bytes[value] === 0x7b) return contentAt(bytes, value, pictures);
          if (member !== 'finishReason') return undefined;
          const end = endOfValue(bytes, value);
          finish = valueAt(bytes, value, end);
          return end;
        }),
      );
    }
    if (!['promptFeedback', 'usageMetadata', 'responseId', 'error'].includes(name)) return undefined;
    const end = endOfValue(bytes, at);
    small[name] = valueAt(bytes, at, end);
    return end;
  });
  const { promptFeedback, error } = small;
  if (isJsonObject(error)) return { error: parseError({ error }) };
  const blocked = isJsonObject(promptFeedback) ? promptFeedback['blockReason'] : undefined;
  if (pictures.length === 0 && typeof blocked === 'string') return { refused: `The prompt was blocked: ${blocked}.` };
  if (pictures.length === 0 && typeof finish === 'string' && REFUSALS.test(finish))
    return { refused: `The picture was withheld: ${finish}.` };
  if (!isKnown) throw new NotThatJson();
  const tokens = tokensOf(small['usageMetadata']);
  const { responseId } = small;
  return {
    pictures: pictures.map((base64) => ({ base64 })),
    ...(tokens !== undefined && { tokens }),
    ...(typeof responseId === 'string' && { id: responseId }),
  };
}

/** Pictures of thoughts are drafts, and no part of the answer. */
function contentAt(bytes: Buffer, at: number, into: Buffer[]): number {
  return eachMember(bytes, at, (name, partsAt) => {
    if (name !== 'parts') return undefined;
    return eachItem(bytes, partsAt, (_part, partAt) => {
      let base64: Buffer | undefined;
      let isThought = false;
      const end = eachMember(bytes, partAt, (member, value) => {
        if (member === 'thought') isThought = bytes.toString('latin1', value, value + 4) === 'true';
        if (member !== 'inlineData' && member !== 'inline_data') return undefined;
        return eachMember(bytes, value, (inner, dataAt) => {
          if (inner !== 'data') return undefined;
          const read = base64At(bytes, dataAt);
          ({ base64 } = read);
          return read.end;
        });
      });
      if (base64 !== undefined && !isThought) into.push(base64);
      return end;
    });
  });
}

function tokensOf(usage: unknown): ImageTokens | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = tokenCount(usage['promptTokenCount']);
  const output = tokenCount(usage['candidatesTokenCount']);
  const thoughts = tokenCount(usage['thoughtsTokenCount']) ?? 0;
  const inputImages = imagesOf(usage['promptTokensDetails']);
  const outputImages = imagesOf(usage['candidatesTokensDetails']);
  if (input === undefined && output === undefined) return undefined;
  return {
    ...(input !== undefined && { input }),
    ...(inputImages !== undefined && { inputImages }),
    ...(output !== undefined && { output: output + thoughts }),
    ...(outputImages !== undefined && { outputImages }),
  };
}

function imagesOf(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details)
    if (isJsonObject(detail) && detail['modality'] === 'IMAGE') return tokenCount(detail['tokenCount']);
  return undefined;
}
