import { estimateTokens } from '../../../canonical/estimate-tokens.ts';
import { sizesOf, type ImageOperation } from '../../../canonical/image.ts';
import { estimateOperationUsage } from '../../../canonical/operation-usage.ts';
import { NO_USAGE, type UnitCounts, type Usage } from '../../../canonical/usage.ts';
import type { Endpoint } from '../../../catalog/model.ts';
import type { PictureSize } from '../../../lib/pictures/picture-size.ts';
import type { CheckedPicture } from '../../../wire/image/answer-out.ts';
import type { ImageAnswerFacts, ImageTokens } from '../../../wire/image/format.ts';
import { boundUsage, completeUsage } from '../../billing/complete-usage.ts';

/** Assumed of a picture where neither its provider nor `tokens_per_image` of the endpoint says more: a guess, which is marked as one. */
const PICTURE_TOKENS_UNKNOWN = 4_160;
/** More of one picture is not believed. */
const PICTURE_TOKENS_MAX = 65_536;
/** Of a prompt and sixteen pictures. */
const CONTEXT_TOKENS_UNKNOWN = 262_144;

/** 8,192 by 8,192: more of one picture is believed only where the request comes near it. */
const PIXELS_MAX = 67_108_864;
const PIXELS_TOLERANCE = 2;

interface Made {
  readonly pictures: readonly CheckedPicture[];
  readonly tokens?: ImageTokens | undefined;
  readonly facts: ImageAnswerFacts;
}

/** Whether pictures are paid by the tokens that they are made of: always, or where the provider counts them. */
function isPaidByToken({ price }: Pick<Endpoint, 'price'>): 'always' | 'counted' | false {
  if (price === undefined) return false;
  const units = price.images?.flatMap(({ billable, unit }) => (billable === 'output_image' ? [unit] : [])) ?? [];
  if (units.length === 0) return price.completion > 0 || (price.imageOutput ?? 0) > 0 ? 'always' : false;
  if (!units.includes('token')) return false;
  return units.every((unit) => unit === 'token') ? 'always' : 'counted';
}

function isPromptPaid({ price }: Pick<Endpoint, 'price'>): boolean {
  return (price?.prompt ?? 0) > 0 || price?.images?.some(({ billable }) => billable === 'input_text') === true;
}

/** What the pictures that came are charged by. */
export function usageOfPictures(made: Made, operation: ImageOperation, endpoint: Endpoint): Usage {
  const { pictures, tokens } = made;
  const units = unitsOf(made, operation);
  // Vendors that do not count say so, or zero.
  if (tokens === undefined || ((tokens.input ?? 0) === 0 && (tokens.output ?? 0) === 0)) {
    const isByToken = isPaidByToken(endpoint) === 'always';
    const written = isByToken ? pictures.length * tokensOfOne(endpoint) : 0;
    return {
      ...NO_USAGE,
      units,
      promptTokens: isPromptPaid(endpoint) ? estimateTokens(operation.prompt) : 0,
      completionTokens: written,
      ...(isByToken && { imageCompletionTokens: written }),
      estimated: isByToken || isPromptPaid(endpoint),
    };
  }
  const { input, inputImages, output, outputImages } = tokens;
  const unreported = [
    ...(input === undefined ? ['prompt' as const] : []),
    ...(output === undefined ? ['completion' as const] : []),
  ];
  const reported: Usage = {
    ...NO_USAGE,
    units,
    estimated: false,
    promptTokens: input ?? 0,
    completionTokens: output ?? 0,
    ...(inputImages !== undefined && { imagePromptTokens: inputImages }),
    ...(outputImages !== undefined && { imageCompletionTokens: outputImages }),
    ...(unreported.length > 0 && { unreported }),
  };
  const bounds = boundUsage({
    contextTokens: endpoint.contextTokensMax ?? CONTEXT_TOKENS_UNKNOWN,
    outputTokens: pictures.length * PICTURE_TOKENS_MAX,
    requestedTokens: 0,
  });
  const completed = completeUsage(
    reported,
    {
      promptTokens: () => estimateTokens(operation.prompt),
      completionTokens: pictures.length * tokensOfOne(endpoint),
      hasContent: pictures.length > 0,
      isOver: true,
      completionTokensMin: 0,
    },
    bounds,
  );
  const { promptTokens, completionTokens, imagePromptTokens, imageCompletionTokens = completionTokens } = completed;
  return {
    ...completed,
    ...(imagePromptTokens !== undefined && { imagePromptTokens: Math.min(imagePromptTokens, promptTokens) }),
    // What is written is pictures, where nothing says how much of it is text; a part is never more than all of it.
    imageCompletionTokens: Math.min(imageCompletionTokens, completionTokens),
  };
}

function tokensOfOne({ image }: Pick<Endpoint, 'image'>): number {
  return image?.tokensPerImage ?? PICTURE_TOKENS_UNKNOWN;
}

function unitsOf({ pictures, facts }: Made, operation: ImageOperation): UnitCounts {
  const { quality } = operation;
  const made = facts.quality ?? quality;
  const requested = (estimateOperationUsage(operation).units?.outputPixels ?? 0) / operation.n;
  const pixels = pictures.flatMap(({ facts: { size } }) => (size === undefined ? [] : believed(size, requested)));
  const isMeasured = pixels.length === pictures.length;
  return {
    images: pictures.length,
    inputImages: operation.references.length,
    ...(isMeasured && { outputPixels: pixels.reduce((sum, each) => sum + each, 0) }),
    imageVariants: pictures.map((picture) => ({
      sizes: sizesOf(picture.facts.size),
      ...(made !== undefined && made !== 'auto' && { quality: made }),
    })),
  };
}

/** A header may say anything: more pixels than were requested, and than models make, are beyond belief. */
function believed({ width, height }: PictureSize, requestedPixels: number): number {
  const pixels = width * height;
  return pixels > Math.max(PIXELS_MAX, PIXELS_TOLERANCE * requestedPixels) ? requestedPixels : pixels;
}

/** The most that may be made, at one endpoint, and what is reserved beside it where nothing says how many tokens that is. */
export function worstPictures(
  usage: Usage,
  endpoint: Endpoint,
  { n }: ImageOperation,
  holdNanoUsd: number,
): { readonly usage: Usage; readonly moreNanoUsd: number } {
  if (isPaidByToken(endpoint) === false) return { usage, moreNanoUsd: 0 };
  const tokens = endpoint.image?.tokensPerImage;
  if (tokens === undefined) return { usage, moreNanoUsd: n * holdNanoUsd };
  const completionTokens = n * tokens;
  return { usage: { ...usage, completionTokens, imageCompletionTokens: completionTokens }, moreNanoUsd: 0 };
}
