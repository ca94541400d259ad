import type { Warning } from '../../../canonical/extra.ts';
import type { TranscriptionOperation } from '../../../canonical/transcription.ts';
import { EXTENSION_OF_AUDIO, MEDIA_TYPE_OF_AUDIO } from '../../../lib/audio/audio-type.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { encodeForm, type FormPart } from '../../../lib/net/form-body.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { membersBeside } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { EncodedTranscription, TranscriptionFormat, TranscriptionTarget } from '../format.ts';
import { sentencesOf, Speakers } from '../sentences.ts';
import type { Transcript, TranscriptWord } from '../transcript.ts';

/** A form with names of its own. @source @elevenlabs/elevenlabs-js 2.73, `speechToText.convert` */
export const elevenLabsTranscription: TranscriptionFormat = {
  id: 'stt/elevenlabs',
  streams: false,
  encode,
  decode: (text) => decode(text),
  decodeEvent: () => undefined,
  decodeError,
};

function encode(operation: TranscriptionOperation, { model, options }: TranscriptionTarget): EncodedTranscription {
  const { audio, language, extra, keywords = [], prompt, temperature, hasLogprobs } = operation;
  const isDiarized = extra?.fields['diarize'] === true || operation.responseFormat === 'diarized_json';
  const text = (name: string, value: string | number | undefined): readonly FormPart[] =>
    value === undefined ? [] : [{ name, value: String(value) }];
  const parts: readonly FormPart[] = [
    ...text('model_id', model),
    ...text('language_code', language),
    ...text('diarize', isDiarized ? 'true' : undefined),
    // Laughter and steps are no words that were said.
    ...text('tag_audio_events', 'false'),
    ...text('timestamps_granularity', 'word'),
    ...text('temperature', temperature),
    ...keywords.map((value): FormPart => ({ name: 'keyterms', value })),
    {
      name: 'file',
      file: audio.file,
      filename: `audio.${EXTENSION_OF_AUDIO[audio.type]}`,
      type: MEDIA_TYPE_OF_AUDIO[audio.type],
    },
  ];
  const added = Object.entries(
    membersBeside(
      parts.map(({ name }) => name),
      options,
    ),
  );
  const dropped = [...(prompt === undefined ? [] : ['prompt']), ...(hasLogprobs ? ['include'] : [])];
  return {
    path: '/speech-to-text',
    source: encodeForm([
      ...parts,
      ...added.flatMap(([name, value]) => text(name, typeof value === 'string' ? value : JSON.stringify(value))),
    ]),
    warnings: dropped.map((path): Warning => ({
      code: 'field-dropped',
      path,
      message: 'has no word at this provider',
    })),
  };
}

function decode(text: string): Transcript | undefined {
  const body = parseJsonObject(text);
  const all = body?.['text'];
  if (body === undefined || typeof all !== 'string') return undefined;
  const { language_code: language, audio_duration_secs: duration, transcription_id: id } = body;
  const speakers = new Speakers();
  const spoken = objectsOf(body['words']).flatMap((word) => wordOf(word, speakers) ?? []);
  return {
    text: all,
    ...(typeof language === 'string' && { language }),
    ...(typeof duration === 'number' && duration >= 0 && { duration, usage: { seconds: duration } }),
    segments: sentencesOf(spoken),
    words: spoken,
    ...(typeof id === 'string' && { id }),
  };
}

function wordOf(
  { type, text, start, end, speaker_id: name }: JsonObject,
  speakers: Speakers,
): TranscriptWord | undefined {
  if (type !== 'word' || typeof start !== 'number' || typeof end !== 'number') return undefined;
  return { word: textOf(text) ?? '', start, end, ...speakers.of(name) };
}
