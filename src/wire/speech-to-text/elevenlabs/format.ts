import type { Warning } from '../../../canonical/extra.ts';
import type { TranscriptionOperation } from '../../../canonical/transcription.ts';
import { EXTENSION_OF_AUDIO, MEDIA_TYPE_OF_AUDIO } from '../../../lib/audio/audio-type.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { encodeForm, type FormPart } from '../../../lib/net/form-body.ts';
import { objectsOf, textOf } from '../../json-fields.ts';
import { membersBeside } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { EncodedTranscription, TranscriptionFormat, TranscriptionTarget } from '../format.ts';
import type { Transcript, TranscriptSegment, TranscriptWord } from '../transcript.ts';

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
  const heard = new Speakers();
  const spoken = objectsOf(body['words']).flatMap((word) => heard.wordOf(word) ?? []);
  return {
    text: all,
    ...(typeof language === 'string' && { language }),
    ...(typeof duration === 'number' && duration >= 0 && { duration, usage: { seconds: duration } }),
    segments: segmentsOf(spoken),
    words: spoken,
    ...(typeof id === 'string' && { id }),
  };
}

/** Numbers speakers from 0 in the order in which they speak. A class because it lives as long as its transcript. */
class Speakers {
  readonly #numbers = new Map<string, number>();

  wordOf({ type, text, start, end, speaker_id: name }: JsonObject): TranscriptWord | undefined {
    if (type !== 'word' || typeof start !== 'number' || typeof end !== 'number') return undefined;
    const speaker = typeof name === 'string' ? this.#numberOf(name) : undefined;
    return { word: textOf(text) ?? '', start, end, ...(speaker !== undefined && { speaker }) };
  }

  #numberOf(name: string): number {
    const number = this.#numbers.get(name) ?? this.#numbers.size;
    this.#numbers.set(name, number);
    return number;
  }
}

/** A sentence of one speaker each: it begins with its first word, and ends with its last one. */
function segmentsOf(words: readonly TranscriptWord[]): readonly TranscriptSegment[] {
  const segments: TranscriptSegment[] = [];
  let open: TranscriptWord[] = [];
  const close = (): void => {
    const [first] = open;
    const last = open.at(-1);
    if (first === undefined || last === undefined) return;
    const { start, speaker } = first;
    const text = open.map(({ word }) => word).join(' ');
    segments.push({ start, end: last.end, text, ...(speaker !== undefined && { speaker }) });
    open = [];
  };
  for (const word of words) {
    if (open.length > 0 && open[0]?.speaker !== word.speaker) close();
    open.push(word);
    if (/[.!?。！？]["')\]]?$/.test(word.word)) close();
  }
  close();
  return segments;
}
