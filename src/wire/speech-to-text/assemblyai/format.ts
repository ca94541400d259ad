import type { Warning } from '../../../canonical/extra.ts';
import type { TranscriptionOperation } from '../../../canonical/transcription.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { NotThatJson } from '../../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import type { VendorStep, VendorWait } from '../../operations/job.ts';
import { withOptions } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { EncodedTranscription, TranscriptionFormat, TranscriptionTarget } from '../format.ts';
import { sentencesOf, Speakers } from '../sentences.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../transcript.ts';

/**
 * AssemblyAI: the sound is uploaded, then a transcript of it is ordered, which is a job.
 * @source assemblyai.com/docs "Transcribe an audio file", "Delete transcript"; vercel/ai, `assemblyai-transcription-model.ts` and
 *   `assemblyai-api-types.ts`; all read 2026-11
 */
export const assemblyAiTranscription: TranscriptionFormat = {
  id: 'stt/assemblyai',
  streams: false,
  encode,
  decode: (text) => decode(text),
  decodeEvent: () => undefined,
  decodeError,
};

const MS_PER_SECOND = 1_000;
/** Models that read instructions. */
const READS_PROMPTS = /^(?:universal-3|slam)/;

function encode(operation: TranscriptionOperation, { model, options }: TranscriptionTarget): EncodedTranscription {
  const { audio, language, extra, keywords = [], prompt, temperature, hasLogprobs } = operation;
  const isDiarized = extra?.fields['diarize'] === true || operation.responseFormat === 'diarized_json';
  const readsPrompts = READS_PROMPTS.test(model);
  const order = withOptions(
    {
      speech_models: [model],
      // Exactly one of the two: it takes no request with both.
      ...(language === undefined
        ? { language_detection: true }
        : { language_code: language.toLowerCase().replace('-', '_') }),
      ...(isDiarized && { speaker_labels: true }),
      ...(keywords.length > 0 && { keyterms_prompt: [...keywords] }),
      ...(readsPrompts && prompt !== undefined && { prompt }),
      ...(readsPrompts && temperature !== undefined && { temperature }),
    },
    options,
  );
  const dropped = [
    ...(prompt === undefined || readsPrompts ? [] : ['prompt']),
    ...(temperature === undefined || readsPrompts ? [] : ['temperature']),
    ...(hasLogprobs ? ['include'] : []),
  ];
  const isForgotten = operation.directives.provider.zdr;
  return {
    path: '/upload',
    source: {
      bytes: audio.file.bytes,
      chunks: () => audio.file.chunks(),
      contentType: 'application/octet-stream',
    },
    follow: (answer, waiting) => follow(answer, waiting, { order, isForgotten }),
    warnings: dropped.map((path): Warning => ({
      code: 'field-dropped',
      path,
      message: 'has no word at this provider',
    })),
  };
}

interface Order {
  readonly order: JsonObject;
  /** The vendor is to keep nothing of it. */
  readonly isForgotten: boolean;
}

function follow(
  answer: JsonObject | undefined,
  waiting: VendorWait | undefined,
  { order, isForgotten }: Order,
): VendorStep {
  if (answer === undefined) throw new NotThatJson();
  const { upload_url: url, status, id } = answer;
  if (typeof url === 'string')
    return { next: 'call', call: { method: 'POST', at: { path: '/transcript' }, body: { ...order, audio_url: url } } };
  if (status === 'completed' || status === 'error') return { next: 'read' };
  if (waiting !== undefined) return waiting;
  if (typeof id !== 'string') throw new NotThatJson();
  const at = { path: `/transcript/${encodePathSegment(id)}` };
  return { next: 'wait', call: { method: 'GET', at }, ...(isForgotten && { forget: { method: 'DELETE', at } }) };
}

function decode(text: string): Transcript | undefined {
  const body = parseJsonObject(text);
  if (body?.['status'] !== 'completed') return undefined;
  const { text: all, language_code: language, audio_duration: duration, id } = body;
  const speakers = new Speakers();
  const words = objectsOf(body['words']).flatMap((word) => wordOf(word, speakers) ?? []);
  const turns = objectsOf(body['utterances']).flatMap((turn) => segmentOf(turn, speakers) ?? []);
  return {
    text: textOf(all) ?? '',
    ...(typeof language === 'string' && { language }),
    ...(typeof duration === 'number' && duration >= 0 && { duration, usage: { seconds: duration } }),
    segments: turns.length > 0 ? turns : sentencesOf(words),
    words,
    ...(typeof id === 'string' && { id }),
  };
}

function wordOf({ text, start, end, speaker }: JsonObject, speakers: Speakers): TranscriptWord | undefined {
  if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { word: text, start: start / MS_PER_SECOND, end: end / MS_PER_SECOND, ...speakers.of(speaker) };
}

function segmentOf({ text, start, end, speaker }: JsonObject, speakers: Speakers): TranscriptSegment | undefined {
  if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { text, start: start / MS_PER_SECOND, end: end / MS_PER_SECOND, ...speakers.of(speaker) };
}
