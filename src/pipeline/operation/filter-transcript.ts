import type { TranscriptFormat } from '../../canonical/transcription.ts';
import type { Mark, RedactedText, Span } from '../../content-filters/contract.ts';
import { mergeMarks, rewriteMarks } from '../../lib/text/mark-spans.ts';
import { subtitleLines } from '../../wire/speech-to-text/subtitles.ts';
import type { Transcript, TranscriptSegment } from '../../wire/speech-to-text/transcript.ts';
import { clipMarks, joinPieces, marksOfPieces, placePieces, type JoinedPieces } from './transcript-pieces.ts';

/** Stands where a piece may hold a part of what was replaced, and nothing says which. */
const GONE = '[REDACTED]';

/** What filters look through: the text, and what the lines of its cues, its segments and its words say together. */
export function textsOfTranscript(transcript: Transcript, answersIn: TranscriptFormat): readonly string[] {
  const { text, segments = [], words = [] } = transcript;
  return [
    text,
    joinPieces(linesOf(text, answersIn).pieces).text,
    joinPieces(segments.map((segment) => segment.text)).text,
    joinPieces(words.map(({ word }) => word)).text,
  ];
}

/**
 * The transcript without what was found. A match in the text is replaced in the segments and words that spell it, and one that
 * lies across these in each of them. Tokens and their probabilities spell the same text: they are left out where it is changed.
 * @param redacted by the places of `textsOfTranscript`
 */
export function redactTranscript(
  transcript: Transcript,
  redacted: ReadonlyMap<number, RedactedText>,
  answersIn: TranscriptFormat,
): Transcript {
  if (redacted.size === 0) return transcript;
  const { text, segments, words, logprobs: _logprobs, ...rest } = transcript;
  const [ofText, ofLines, ofSegments, ofWords] = [0, 1, 2, 3].map((at) => redacted.get(at)?.marks ?? []);
  const marks = mergeMarks([...(ofText ?? []), ...marksOfLines(text, answersIn, ofLines ?? [])]);
  const segmentTexts = segments?.map((segment) => segment.text) ?? [];
  const newTexts = redactPieces(joinPieces(segmentTexts), ofSegments ?? [], text, marks);
  const newWords = redactPieces(joinPieces(words?.map(({ word }) => word) ?? []), ofWords ?? [], text, marks);
  return {
    ...rest,
    text: rewriteMarks(text, marks).text,
    ...(segments !== undefined && { segments: segments.map((segment, at) => withText(segment, newTexts[at] ?? GONE)) }),
    ...(words !== undefined && { words: words.map((word, at) => ({ ...word, word: newWords[at] ?? GONE })) }),
  };
}

/** @param own marks in what the pieces say together; @param marks in the text that they should spell */
function redactPieces(
  joined: JoinedPieces,
  own: readonly Mark[],
  text: string,
  marks: readonly Mark[],
): readonly string[] {
  const { pieces } = joined;
  const placed = placePieces(text, pieces);
  const { start, end } = placed.gap;
  const isGapMarked = marks.some((mark) => mark.start < end && mark.end > start);
  const clipped = clipMarks(joined, own);
  const spelled = marksOfPieces(text, marks, pieces, placed);
  return pieces.map((piece, at) => {
    if (placed.places[at] === undefined && isGapMarked) return GONE;
    return rewriteMarks(piece, mergeMarks([...(clipped[at] ?? []), ...(spelled[at] ?? [])])).text;
  });
}

/** Of subtitles that are passed on as they came: what is between their numbers and times. */
function linesOf(text: string, answersIn: TranscriptFormat): Pick<JoinedPieces, 'pieces' | 'spans'> {
  const spans = answersIn === 'srt' || answersIn === 'vtt' ? subtitleLines(text) : [];
  return { spans, pieces: spans.map(({ start, end }: Span) => text.slice(start, end)) };
}

function marksOfLines(text: string, answersIn: TranscriptFormat, marks: readonly Mark[]): readonly Mark[] {
  const { pieces, spans } = linesOf(text, answersIn);
  return clipMarks(joinPieces(pieces), marks).flatMap((some, at) => {
    const from = spans[at]?.start ?? 0;
    return some.map(({ start, end, label }) => ({ start: from + start, end: from + end, label }));
  });
}

function withText({ more, ...segment }: TranscriptSegment, text: string): TranscriptSegment {
  const isOwn = text === segment.text;
  return { ...segment, text, ...(isOwn && more !== undefined && { more }) };
}
