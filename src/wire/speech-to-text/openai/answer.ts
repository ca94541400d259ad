import type { TranscriptFormat } from '../../../canonical/transcription.ts';
import { tokenCount } from '../../../canonical/usage.ts';
import { isJsonObject, parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { errorOfEvent } from '../../upstream-error.ts';
import { toSrt, toVtt } from '../subtitles.ts';
import type { Transcript, TranscriptEvent, TranscriptSegment, TranscriptUsage, TranscriptWord } from '../transcript.ts';

/** A transcript in JSON, or the text itself where that was to come. */
export function decodeAnswer(text: string, answersIn: TranscriptFormat): Transcript | undefined {
  const isJson = answersIn === 'json' || answersIn === 'verbose_json' || answersIn === 'diarized_json';
  // Some hosts answer in JSON whatever was to come.
  const body = isJson || text.startsWith('{') ? parseJsonObject(text) : undefined;
  if (body !== undefined) return inFormat(transcriptOf(body), answersIn);
  return isJson || text.startsWith('<') ? undefined : { text };
}

/** Subtitles need times: a transcript without any is none of them. */
function inFormat(transcript: Transcript | undefined, answersIn: TranscriptFormat): Transcript | undefined {
  if (transcript === undefined || (answersIn !== 'srt' && answersIn !== 'vtt')) return transcript;
  const { segments = [] } = transcript;
  if (segments.length === 0) return transcript.text === '' ? transcript : undefined;
  return { ...transcript, text: answersIn === 'srt' ? toSrt(segments) : toVtt(segments) };
}

function transcriptOf(body: JsonObject): Transcript | undefined {
  const text = body['text'];
  if (typeof text !== 'string') return undefined;
  const { language, duration, logprobs, id } = body;
  const segments = objectsOf(body['segments']).flatMap((segment) => segmentOf(segment) ?? []);
  const words = objectsOf(body['words']).flatMap((word) => wordOf(word) ?? []);
  const usage = usageOf(body);
  return {
    text,
    ...(typeof language === 'string' && { language }),
    ...(typeof duration === 'number' && { duration }),
    ...(typeof duration === 'string' && Number.isFinite(Number(duration)) && { duration: Number(duration) }),
    ...(Array.isArray(body['segments']) && { segments }),
    ...(Array.isArray(body['words']) && { words }),
    ...(Array.isArray(logprobs) && { logprobs }),
    ...(usage !== undefined && { usage }),
    ...(typeof id === 'string' && { id }),
  };
}

function segmentOf({
  start,
  end,
  text,
  speaker,
  speaker_id: speakerId,
  ...more
}: JsonObject): TranscriptSegment | undefined {
  if (typeof start !== 'number' || typeof end !== 'number' || typeof text !== 'string') return undefined;
  const name = speaker ?? speakerId;
  return { start, end, text, more, ...((typeof name === 'string' || typeof name === 'number') && { speaker: name }) };
}

function wordOf({ word, start, end, speaker }: JsonObject): TranscriptWord | undefined {
  if (typeof word !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { word, start, end, ...((typeof speaker === 'string' || typeof speaker === 'number') && { speaker }) };
}

/** In tokens or in seconds. Mistral's words: `prompt_audio_seconds`, `prompt_tokens`. */
function usageOf(body: JsonObject): TranscriptUsage | undefined {
  const { usage } = body;
  if (!isJsonObject(usage)) return undefined;
  const seconds = usage['seconds'] ?? usage['prompt_audio_seconds'];
  const inputTokens = tokenCount(usage['input_tokens'] ?? usage['prompt_tokens']);
  const outputTokens = tokenCount(usage['output_tokens'] ?? usage['completion_tokens']);
  const audioTokens = tokenCount(objectOf(usage['input_token_details'])?.['audio_tokens']);
  return {
    ...(typeof seconds === 'number' && seconds >= 0 && { seconds }),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(audioTokens !== undefined && { audioTokens }),
  };
}

const CHUNKS_END = '[DONE]';

/**
 * The vendor's events. Other hosts send chat-like chunks with an end of their own (vLLM), events of other names (Mistral),
 * or a whole answer for each stretch of the sound and no end (older releases of speaches).
 */
export function decodeEvent(data: string): TranscriptEvent | undefined {
  if (data === CHUNKS_END) return { type: 'end' };
  const event = parseJsonObject(data);
  if (event === undefined) return undefined;
  const error = errorOfEvent(event);
  if (error !== undefined) return { type: 'error', error };
  const { type, delta, choices, ...more } = event;
  if (type === 'transcript.text.delta') return typeof delta === 'string' ? { type: 'delta', delta, more } : undefined;
  if (type === 'transcript.text.segment') return { type: 'segment', segment: more };
  if (type === 'transcript.text.done' || type === 'transcription.done') return done(event);
  if (type === 'transcription.text.delta') {
    const { text } = event;
    return typeof text === 'string' ? { type: 'delta', delta: text } : undefined;
  }
  const { object, text } = event;
  if (type === undefined && object === undefined && typeof text === 'string')
    return { type: 'open-ended', delta: text };
  if (object !== 'transcription.chunk') return undefined;
  const content = textOf(objectOf(objectsOf(choices)[0]?.['delta'])?.['content']);
  return content === undefined ? undefined : { type: 'delta', delta: content };
}

function done(event: JsonObject): TranscriptEvent | undefined {
  const transcript = transcriptOf(event);
  return transcript && { type: 'done', transcript };
}
