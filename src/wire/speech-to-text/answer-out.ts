import type { TranscriptFormat, TranscriptionOperation } from '../../canonical/transcription.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { AnswerIdentity, FinalUsage } from '../format.ts';
import { encodeCost } from '../gateway/cost.ts';
import { toSrt, toVtt } from './subtitles.ts';
import type { Transcript, TranscriptPiece, TranscriptSegment } from './transcript.ts';

const MS_PER_SECOND = 1_000;

/** The media types of answers that are no JSON. */
export const MEDIA_TYPE_OF_TRANSCRIPT: Readonly<Partial<Record<TranscriptFormat, string>>> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
};

/**
 * The body of an answer in the caller's format.
 * @param answersIn in which the upstream answered: a text in the caller's own format is passed on as it is
 */
export function encodeTranscript(
  transcript: Transcript,
  operation: TranscriptionOperation,
  answersIn: TranscriptFormat,
  identity: AnswerIdentity,
  finalUsage: FinalUsage,
): string {
  const { responseFormat } = operation;
  const { text, segments = [] } = transcript;
  switch (responseFormat) {
    case 'text':
      return text;
    case 'srt':
      return answersIn === 'srt' ? text : toSrt(segments);
    case 'vtt':
      return answersIn === 'vtt' ? text : toVtt(segments);
    case 'json':
      return JSON.stringify({
        text,
        logprobs: transcript.logprobs,
        ...identity,
        ...usageMembers(transcript, finalUsage),
      });
    case 'diarized_json':
      return JSON.stringify({ ...diarized(transcript), ...identity, ...usageMembers(transcript, finalUsage) });
    case 'verbose_json':
    default:
      return JSON.stringify({
        ...verbose(transcript, operation),
        ...identity,
        ...usageMembers(transcript, finalUsage),
      });
  }
}

/** The frame of an event, in the form of OpenAI's clients. */
export function encodeTranscriptEvent(event: TranscriptPiece, finalUsage?: FinalUsage): string {
  switch (event.type) {
    case 'delta':
      return frame({ type: 'transcript.text.delta', delta: event.delta, ...event.more });
    case 'segment':
      return frame({ type: 'transcript.text.segment', ...event.segment });
    case 'done':
    default: {
      const { text, language, duration } = event.transcript;
      const usage = finalUsage && usageMembers(event.transcript, finalUsage);
      return frame({ type: 'transcript.text.done', text, language, duration, ...usage });
    }
  }
}

function frame(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function usageMembers({ usage: reported }: Transcript, finalUsage: FinalUsage): JsonObject {
  const { usage, serviceMetadata } = finalUsage;
  const { cost, is_byok: isByok } = encodeCost(finalUsage);
  const isByTokens = reported?.inputTokens !== undefined;
  const counted: JsonObject = isByTokens
    ? {
        type: 'tokens',
        input_tokens: usage.promptTokens,
        output_tokens: usage.completionTokens,
        total_tokens: usage.promptTokens + usage.completionTokens,
        ...(usage.audioPromptTokens !== undefined && {
          input_token_details: {
            audio_tokens: usage.audioPromptTokens,
            text_tokens: Math.max(0, usage.promptTokens - usage.audioPromptTokens),
          },
        }),
      }
    : { type: 'duration', seconds: (usage.units?.audioMs ?? 0) / MS_PER_SECOND };
  return {
    usage: { ...counted, cost, is_byok: isByok },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
  };
}

/** Only the lists that were wanted; without a wish the segments. */
function verbose(transcript: Transcript, { task, granularities, fillsSegments }: TranscriptionOperation): JsonObject {
  const { text, language, duration, segments = [], words } = transcript;
  const hasSegments = granularities.length === 0 || granularities.includes('segment');
  return {
    task,
    language: task === 'translate' ? 'english' : (language ?? ''),
    duration: duration ?? segments.at(-1)?.end ?? 0,
    text,
    ...(hasSegments && { segments: segments.map((segment, id) => segmentOut(segment, id, fillsSegments)) }),
    ...(granularities.includes('word') && { words: (words ?? []).map((word) => ({ ...word })) }),
  };
}

/** What clients of the vendor's form refuse a segment without. */
const FILLED: JsonObject = {
  seek: 0,
  tokens: [],
  temperature: 0,
  avg_logprob: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
};

function segmentOut({ start, end, text, speaker, more }: TranscriptSegment, id: number, fills: boolean): JsonObject {
  return { ...(fills && FILLED), ...more, id, start, end, text, ...(speaker !== undefined && { speaker }) };
}

function diarized({ text, duration, segments = [] }: Transcript): JsonObject {
  return {
    task: 'transcribe',
    duration: duration ?? segments.at(-1)?.end ?? 0,
    text,
    segments: segments.map(({ start, end, text: words, speaker, more }, at) => ({
      type: 'transcript.text.segment',
      id: typeof more?.['id'] === 'string' ? more['id'] : `seg_${at}`,
      start,
      end,
      text: words,
      speaker: typeof speaker === 'number' ? letterOf(speaker) : (speaker ?? 'A'),
    })),
  };
}

const LETTERS = 26;
const FIRST_LETTER = 65;

/** As the vendor names speakers that it does not know. */
function letterOf(speaker: number): string {
  return speaker < LETTERS ? String.fromCharCode(FIRST_LETTER + speaker) : `S${speaker}`;
}
