import type { Warning } from '../../../canonical/extra.ts';
import type { TranscriptionOperation } from '../../../canonical/transcription.ts';
import { MEDIA_TYPE_OF_AUDIO } from '../../../lib/audio/audio-type.ts';
import { parseJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { membersBeside } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { EncodedTranscription, TranscriptionFormat, TranscriptionTarget } from '../format.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../transcript.ts';

/** Deepgram's own: the bytes are the body, everything else stands in the query. @source @deepgram/sdk 5.13, `listen.v1.media` */
export const deepgramTranscription: TranscriptionFormat = {
  id: 'stt/deepgram',
  streams: false,
  encode,
  decode: (text) => decode(text),
  decodeEvent: () => undefined,
  decodeError,
};

/** Where the caller says nothing else. */
const DEFAULTS = { smart_format: 'true', punctuate: 'true' };

function encode(operation: TranscriptionOperation, { model, options }: TranscriptionTarget): EncodedTranscription {
  const { audio, language, extra, keywords = [], prompt, temperature, hasLogprobs } = operation;
  const query = new URLSearchParams({ model, ...DEFAULTS, utterances: 'true' });
  if (language === undefined) query.set('detect_language', 'true');
  else query.set('language', language);
  if (extra?.fields['diarize'] === true || operation.responseFormat === 'diarized_json') query.set('diarize', 'true');
  for (const keyword of keywords) query.append('keyterm', keyword);
  const written = [...query.keys()].filter((name) => !Object.hasOwn(DEFAULTS, name));
  for (const [name, value] of Object.entries(membersBeside(written, options)))
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  const dropped = [
    ...(prompt === undefined ? [] : ['prompt']),
    ...(temperature === undefined ? [] : ['temperature']),
    ...(hasLogprobs ? ['include'] : []),
  ];
  return {
    path: `/listen?${query.toString()}`,
    source: {
      bytes: audio.file.bytes,
      chunks: () => audio.file.chunks(),
      contentType: MEDIA_TYPE_OF_AUDIO[audio.type],
    },
    warnings: dropped.map((path): Warning => ({
      code: 'field-dropped',
      path,
      message: 'has no word at this provider',
    })),
  };
}

function decode(text: string): Transcript | undefined {
  const body = parseJsonObject(text);
  const results = objectOf(body?.['results']);
  const channels = objectsOf(results?.['channels']);
  const alternatives = channels.map((channel) => objectsOf(channel['alternatives'])[0]);
  const texts = alternatives.flatMap((one) => textOf(one?.['transcript']) ?? []);
  if (
    results === undefined ||
    channels.length === 0 ||
    (texts.length === 0 && alternatives.some((one) => one === undefined))
  )
    return undefined;
  const metadata = objectOf(body?.['metadata']);
  const { duration, request_id: id } = metadata ?? {};
  const seconds = typeof duration === 'number' && duration >= 0 ? duration : undefined;
  const language = textOf(channels[0]?.['detected_language']);
  const words = alternatives.flatMap((one) => objectsOf(one?.['words']).flatMap((word) => wordOf(word) ?? []));
  const utterances = objectsOf(results['utterances']);
  return {
    text: texts.join('\n'),
    ...(language !== undefined && { language }),
    // Each channel is charged.
    ...(seconds !== undefined && { duration: seconds, usage: { seconds: seconds * channels.length } }),
    segments: utterances.flatMap((utterance) => segmentOf(utterance) ?? []),
    words,
    ...(typeof id === 'string' && { id }),
  };
}

function wordOf({ word, punctuated_word: punctuated, start, end, speaker }: JsonObject): TranscriptWord | undefined {
  const text = typeof punctuated === 'string' ? punctuated : word;
  if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { word: text, start, end, ...speakerOf(speaker) };
}

function segmentOf({ transcript, start, end, speaker }: JsonObject): TranscriptSegment | undefined {
  if (typeof transcript !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { start, end, text: transcript, ...speakerOf(speaker) };
}

function speakerOf(speaker: Json | undefined): { readonly speaker?: number } {
  return typeof speaker === 'number' ? { speaker } : {};
}
