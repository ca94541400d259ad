import type { Transcript, TranscriptSegment, TranscriptWord } from '../../wire/speech-to-text/transcript.ts';

/** Stands where a stretch holds a part of what was replaced, and nothing says which. */
const GONE = '[REDACTED]';

/** What filters look through: the text, and each stretch of it by itself. */
export function textsOfTranscript({ text, segments = [], words = [] }: Transcript): readonly string[] {
  return [text, ...segments.map((segment) => segment.text), ...words.map(({ word }) => word)];
}

/**
 * The transcript with these texts in the place of its own. What was found in all of the text may lie across stretches: those that
 * stand no more in it are replaced as a whole. Tokens and their probabilities spell the same text, and are left out.
 */
export function withTextsOfTranscript(transcript: Transcript, texts: readonly string[]): Transcript {
  const { segments, words, logprobs: _logprobs, ...rest } = transcript;
  const text = texts[0] ?? '';
  const isReplaced = text !== transcript.text;
  let next = 1;
  const take = (own: string): string => {
    const found = texts[next++] ?? GONE;
    return isReplaced && found === own && !text.includes(own.trim()) ? GONE : found;
  };
  const changed: Transcript = {
    ...rest,
    text,
    ...(segments !== undefined && { segments: segments.map((segment) => withText(segment, take(segment.text))) }),
    ...(words !== undefined && { words: words.map((word): TranscriptWord => ({ ...word, word: take(word.word) })) }),
  };
  return changed;
}

function withText({ more, ...segment }: TranscriptSegment, text: string): TranscriptSegment {
  const isOwn = text === segment.text;
  return { ...segment, text, ...(isOwn && more !== undefined && { more }) };
}
