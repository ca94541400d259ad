import { estimateTokens } from '../../../canonical/estimate-tokens.ts';
import { sizeText, tierOf, type ImageOperation } from '../../../canonical/image.ts';
import { NO_USAGE, type UnitCounts, type Usage } from '../../../canonical/usage.ts';
import type { Endpoint } from '../../../catalog/model.ts';
import type { CheckedPicture } from '../../../wire/image/answer-out.ts';
import type { ImageAnswerFacts, ImageTokens } from '../../../wire/image/format.ts';
import { boundUsage, completeUsage } from '../../billing/complete-usage.ts';

/** Of a picture where nothing says more: gpt-image makes 4,160 of a square one of high quality, its page "Pricing", read 2026-11. */
const PICTURE_TOKENS_UNKNOWN = 4_160;
/** More of one picture is not believed. */
const PICTURE_TOKENS_MAX = 65_536;
/** Of a prompt and sixteen pictures. */
const CONTEXT_TOKENS_UNKNOWN = 262_144;

interface Made {
  readonly pictures: readonly CheckedPicture[];
  readonly tokens?: ImageTokens | undefined;
  readonly facts: ImageAnswerFacts;
}

/** Whether pictures are paid by the tokens that they are made of. */
function isPaidByToken({ price }: Pick<Endpoint, 'price'>): boolean {
  if (price === undefined) return false;
  if (price.images !== undefined)
    return price.images.some(({ billable, unit }) => billable === 'output_image' && unit === 'token');
  return price.completion > 0 || (price.imageOutput ?? 0) > 0;
}

/** What the pictures that came are charged by. */
export function usageOfPictures(made: Made, operation: ImageOperation, endpoint: Endpoint): Usage {
  const { pictures, tokens } = made;
  const units = unitsOf(made, operation);
  // Vendors that do not count say so, or zero.
  if (tokens === undefined || ((tokens.input ?? 0) === 0 && (tokens.output ?? 0) === 0)) {
    const isByToken = isPaidByToken(endpoint);
    const written = isByToken ? pictures.length * (endpoint.image?.tokensPerImage ?? PICTURE_TOKENS_UNKNOWN) : 0;
    const isPromptPaid = (endpoint.price?.prompt ?? 0) > 0;
    return {
      ...NO_USAGE,
      units,
      promptTokens: isPromptPaid ? estimateTokens(operation.prompt) : 0,
      completionTokens: written,
      ...(isByToken && { imageCompletionTokens: written }),
      estimated: isByToken || isPromptPaid,
    };
  }
  const { input, inputImages, output, outputImages } = tokens;
  const reported: Usage = {
    ...NO_USAGE,
    units,
    estimated: false,
    promptTokens: input ?? 0,
    completionTokens: output ?? 0,
    ...(inputImages !== undefined && { imagePromptTokens: inputImages }),
    imageCompletionTokens: outputImages ?? output ?? 0,
    ...(input === undefined ? { unreported: ['prompt' as const] } : {}),
  };
  const bounds = boundUsage({
    contextTokens: endpoint.contextTokensMax ?? CONTEXT_TOKENS_UNKNOWN,
    outputTokens: pictures.length * PICTURE_TOKENS_MAX,
    requestedTokens: 0,
  });
  return completeUsage(
    reported,
    {
      promptTokens: () => estimateTokens(operation.prompt),
      completionTokens: pictures.length * (endpoint.image?.tokensPerImage ?? PICTURE_TOKENS_UNKNOWN),
      hasContent: true,
      isOver: true,
      completionTokensMin: 0,
    },
    bounds,
  );
}

function unitsOf({ pictures, facts }: Made, operation: ImageOperation): UnitCounts {
  const sizes = pictures.flatMap((picture) => picture.facts.size ?? []);
  const [first] = sizes;
  const { size, tier, quality } = operation;
  const made = facts.quality ?? (quality === 'auto' ? undefined : quality);
  const words = new Set([
    ...(first === undefined ? [] : [sizeText(first)]),
    ...(size === undefined ? [] : [sizeText(size)]),
    ...(tier === undefined ? [] : [tier]),
    ...(first === undefined ? [] : [tierOf(first)]),
  ]);
  const isMeasured = sizes.length === pictures.length;
  return {
    images: pictures.length,
    inputImages: operation.references.length,
    ...(isMeasured && { outputPixels: sizes.reduce((sum, { width, height }) => sum + width * height, 0) }),
    imageVariant: { sizes: [...words], ...(made !== undefined && made !== 'auto' && { quality: made }) },
  };
}

/** The most that may be made, at one endpoint, and what is reserved beside it where nothing says how many tokens that is. */
export function worstPictures(
  usage: Usage,
  endpoint: Endpoint,
  { n }: ImageOperation,
  holdNanoUsd: number,
): { readonly usage: Usage; readonly moreNanoUsd: number } {
  if (!isPaidByToken(endpoint)) return { usage, moreNanoUsd: 0 };
  const tokens = endpoint.image?.tokensPerImage;
  if (tokens === undefined) return { usage, moreNanoUsd: n * holdNanoUsd };
  const completionTokens = n * tokens;
  return { usage: { ...usage, completionTokens, imageCompletionTokens: completionTokens }, moreNanoUsd: 0 };
}
