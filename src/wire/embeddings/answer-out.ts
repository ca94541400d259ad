import type { AnswerIdentity, FinalUsage } from '../format.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Usage } from '../../canonical/usage.ts';
import { encodeCost } from '../gateway/cost.ts';
import type { Vector } from './vectors.ts';

/** The body of an answer, in pieces that are never joined: vectors stay the bytes that their upstream wrote. */
export function encodeAnswer(
  vectors: readonly Vector[],
  { id, model, provider }: AnswerIdentity,
  finalUsage: FinalUsage,
): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let before = '{"object":"list","data":[';
  vectors.forEach(({ bytes }, index) => {
    pieces.push(Buffer.from(`${before}{"object":"embedding","index":${index},"embedding":`), bytes);
    before = '},';
  });
  const { usage, serviceMetadata } = finalUsage;
  const tail: JsonObject = {
    model,
    id,
    provider,
    usage: {
      prompt_tokens: usage.promptTokens,
      total_tokens: usage.promptTokens,
      ...encodeModalities(usage),
      ...encodeCost(finalUsage),
    },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
  };
  pieces.push(Buffer.from(`}],${JSON.stringify(tail).slice(1)}`));
  return pieces;
}

/** Where there are tokens of more than texts. */
function encodeModalities({ promptTokens, imagePromptTokens = 0, audioPromptTokens = 0 }: Usage): JsonObject {
  if (imagePromptTokens + audioPromptTokens === 0) return {};
  return {
    prompt_tokens_details: {
      text_tokens: Math.max(0, promptTokens - imagePromptTokens - audioPromptTokens),
      ...(imagePromptTokens > 0 && { image_tokens: imagePromptTokens }),
      ...(audioPromptTokens > 0 && { audio_tokens: audioPromptTokens }),
    },
  };
}
