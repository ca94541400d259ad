import { unreachable } from '../lib/assert.ts';
import { longestMs } from './audio.ts';
import {
  estimateDecisionTokens,
  estimateDocumentTokens,
  estimateMediaTokens,
  estimateOperationTokens,
  estimateRerankTokens,
  estimateTokens,
} from './estimate-tokens.ts';
import { pixelsOfTier, sizesOf, type ImageOperation } from './image.ts';
import type { Operation } from './operation.ts';
import { countSearchUnits } from './rerank.ts';
import { countCharacters } from './speech.ts';
import { NO_USAGE, type Usage } from './usage.ts';

// Where models count tokens of sound: ten of what they hear a second. Of a text of 4,096 characters gpt-4o-mini-tts makes some
// 5,300 (measured in sanand0/blog "OpenAI TTS cost", 2025-11). What they write of a second of speech is a few words.
const HEARD_TOKENS_PER_SECOND = 10;
const WRITTEN_TOKENS_PER_SECOND = 5;
const SPOKEN_TOKENS_PER_CHARACTER = 1.3;
const MS_PER_SECOND = 1_000;

/** Of sound of that length. */
export function estimateHeardTokens(audioMs: number): number {
  return Math.ceil((audioMs / MS_PER_SECOND) * HEARD_TOKENS_PER_SECOND);
}

/** What an operation will use, as far as its request says: in every unit by which it may be charged. */
export function estimateOperationUsage(operation: Operation): Usage {
  switch (operation.kind) {
    case 'embeddings':
      return {
        ...NO_USAGE,
        estimated: true,
        promptTokens: estimateOperationTokens(operation),
        ...estimateMediaTokens(operation),
      };
    case 'rerank': {
      const searchUnits = countSearchUnits(estimateDocumentTokens(operation));
      return { ...NO_USAGE, estimated: true, promptTokens: estimateRerankTokens(operation), units: { searchUnits } };
    }
    case 'decisions':
      return { ...NO_USAGE, estimated: true, promptTokens: estimateDecisionTokens(operation) };
    case 'image':
      return estimatePictures(operation);
    case 'stt': {
      const audioMs = longestMs(operation.audio);
      const seconds = audioMs / MS_PER_SECOND;
      const audioPromptTokens = estimateHeardTokens(audioMs);
      return {
        ...NO_USAGE,
        estimated: true,
        promptTokens: audioPromptTokens + estimateTokens(operation.prompt ?? ''),
        audioPromptTokens,
        completionTokens: Math.ceil(seconds * WRITTEN_TOKENS_PER_SECOND),
        units: { audioMs },
      };
    }
    case 'tts': {
      const characters = countCharacters(operation.input);
      const spoken = Math.ceil(characters * SPOKEN_TOKENS_PER_CHARACTER);
      return {
        ...NO_USAGE,
        estimated: true,
        promptTokens: estimateTokens(operation.input),
        completionTokens: spoken,
        audioCompletionTokens: spoken,
        units: { characters },
      };
    }
    case 'video':
      // By the seconds of the model that makes the clip: its job counts them.
      return { ...NO_USAGE, estimated: true };
    default:
      return unreachable(operation);
  }
}

/** Assumed of a picture in the prompt, for what is reserved alone: the provider counts what is charged. */
const INPUT_PICTURE_TOKENS = 6_500;
/** Pixels of a picture whose size nothing says: as much as most models make. */
const PIXELS_UNKNOWN = pixelsOfTier('2K');

/** Tokens of what is made are the endpoint's to say. */
function estimatePictures({ prompt, n, references, size, tier, quality }: ImageOperation): Usage {
  const imagePromptTokens = references.length * INPUT_PICTURE_TOKENS;
  const pixels = size === undefined ? tier && pixelsOfTier(tier) : size.width * size.height;
  const made = quality === undefined || quality === 'auto' ? {} : { quality };
  const variant = { sizes: sizesOf(size, tier), ...made };
  return {
    ...NO_USAGE,
    estimated: true,
    promptTokens: estimateTokens(prompt) + imagePromptTokens,
    imagePromptTokens,
    units: {
      images: n,
      inputImages: references.length,
      outputPixels: n * (pixels ?? PIXELS_UNKNOWN),
      imageVariants: Array.from({ length: n }, () => variant),
    },
  };
}
