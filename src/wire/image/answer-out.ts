import { sizeText, type ImageOperation } from '../../canonical/image.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { PictureFacts } from '../../lib/pictures/base64-picture.ts';
import { MEDIA_TYPE_OF_PICTURE } from '../../lib/pictures/picture-type.ts';
import type { AnswerIdentity, FinalUsage } from '../format.ts';
import { encodeCost } from '../gateway/cost.ts';
import type { ImageAnswerFacts } from './format.ts';

/** A picture that was checked. */
export interface CheckedPicture {
  /** The bytes of the upstream's answer, where it had base64. */
  readonly base64: Buffer;
  readonly facts: PictureFacts;
  readonly revisedPrompt?: string;
}

export interface ImageAnswer {
  readonly pictures: readonly CheckedPicture[];
  /** As the upstream says. */
  readonly facts: ImageAnswerFacts;
  /** Unix s. */
  readonly created: number;
}

const QUOTE = Buffer.from('"');

/** The body of an answer, in pieces: the pictures are not copied. */
export function encodeImages(
  operation: ImageOperation,
  { pictures, facts, created }: ImageAnswer,
  identity: AnswerIdentity,
  finalUsage: FinalUsage,
): readonly Uint8Array[] {
  const { serviceMetadata } = finalUsage;
  const tail: JsonObject = {
    ...(operation.shape !== 'gateway' && descriptionOf(operation, facts, pictures[0])),
    usage: usageOut(operation, finalUsage),
    ...identity,
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
  };
  return [
    Buffer.from(`{"created":${created},"data":[`),
    ...pictures.flatMap((picture, at) => [...(at === 0 ? [] : [Buffer.from(',')]), ...pictureOut(operation, picture)]),
    Buffer.from(`],${JSON.stringify(tail).slice(1)}`),
  ];
}

function pictureOut(
  { shape, responseFormat }: ImageOperation,
  { base64, facts, revisedPrompt }: CheckedPicture,
): readonly Uint8Array[] {
  const mediaType = MEDIA_TYPE_OF_PICTURE[facts.type];
  const rest: JsonObject = {
    ...(shape === 'gateway' && { media_type: mediaType }),
    ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
  };
  const isUrl = shape !== 'gateway' && responseFormat === 'url';
  const head = isUrl ? `{"url":"data:${mediaType};base64,` : '{"b64_json":"';
  return [Buffer.from(head), base64, QUOTE, Buffer.from(endOf(rest))];
}

/** What follows a member that is written already. */
function endOf(rest: JsonObject): string {
  return Object.keys(rest).length === 0 ? '}' : `,${JSON.stringify(rest).slice(1)}`;
}

/** What the vendor's clients read of a picture. */
function descriptionOf(
  operation: ImageOperation,
  facts: ImageAnswerFacts,
  picture: CheckedPicture | undefined,
): JsonObject {
  const size = picture?.facts.size ?? operation.size;
  const quality = facts.quality ?? operation.quality;
  const background = facts.background ?? operation.background;
  return {
    ...(picture !== undefined && { output_format: picture.facts.type }),
    ...(size !== undefined && { size: sizeText(size) }),
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
  };
}

function usageOut({ shape }: ImageOperation, finalUsage: FinalUsage): JsonObject {
  const { usage } = finalUsage;
  const { promptTokens, completionTokens, imagePromptTokens, imageCompletionTokens } = usage;
  const { cost, is_byok: isByok, ...more } = encodeCost(finalUsage);
  const total = promptTokens + completionTokens;
  if (shape === 'gateway')
    return {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: total,
      ...(imagePromptTokens !== undefined && { prompt_tokens_details: { image_tokens: imagePromptTokens } }),
      ...(imageCompletionTokens !== undefined && {
        completion_tokens_details: { image_tokens: imageCompletionTokens },
      }),
      cost,
      is_byok: isByok,
      ...more,
    };
  const pictureTokens = imagePromptTokens ?? 0;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { text_tokens: Math.max(0, promptTokens - pictureTokens), image_tokens: pictureTokens },
    output_tokens: completionTokens,
    ...(imageCompletionTokens !== undefined && {
      output_tokens_details: {
        image_tokens: imageCompletionTokens,
        text_tokens: Math.max(0, completionTokens - imageCompletionTokens),
      },
    }),
    total_tokens: total,
    cost,
    is_byok: isByok,
  };
}

/** A preview, as an event in pieces. */
export function encodePartial(
  operation: ImageOperation,
  index: number,
  { pictures: [picture], facts, created }: ImageAnswer,
): readonly Uint8Array[] {
  const rest: JsonObject = {
    partial_image_index: index,
    ...(operation.shape !== 'gateway' && { created_at: created, ...descriptionOf(operation, facts, picture) }),
  };
  return eventOut(operation, 'partial_image', picture, rest);
}

/** A picture that is complete, as an event in pieces. @param finalUsage of all of them */
export function encodeCompleted(
  operation: ImageOperation,
  { pictures: [picture], facts, created }: ImageAnswer,
  finalUsage: FinalUsage,
): readonly Uint8Array[] {
  const usage = usageOut(operation, finalUsage);
  if (operation.shape !== 'gateway')
    return eventOut(operation, 'completed', picture, {
      created_at: created,
      ...descriptionOf(operation, facts, picture),
      usage,
    });
  const mediaType = picture === undefined ? undefined : MEDIA_TYPE_OF_PICTURE[picture.facts.type];
  return eventOut(operation, 'completed', picture, { media_type: mediaType, created, usage });
}

function eventOut(
  { shape }: ImageOperation,
  name: 'partial_image' | 'completed',
  picture: CheckedPicture | undefined,
  rest: JsonObject,
): readonly Uint8Array[] {
  const type = `${shape === 'edit' ? 'image_edit' : 'image_generation'}.${name}`;
  const line = shape === 'gateway' ? '' : `event: ${type}\n`;
  return [
    Buffer.from(`${line}data: {"type":"${type}","b64_json":"`),
    picture?.base64 ?? Buffer.alloc(0),
    Buffer.from(`"${endOf(rest)}\n\n`),
  ];
}
