import type { TranscriptionOperation } from '../../../canonical/transcription.ts';
import { EXTENSION_OF_AUDIO, MEDIA_TYPE_OF_AUDIO } from '../../../lib/audio/audio-type.ts';
import type { Json } from '../../../lib/json.ts';
import { encodeForm, type FormPart } from '../../../lib/net/form-body.ts';
import { membersBeside } from '../../provider-options.ts';
import { decodeError } from '../../upstream-error.ts';
import type { EncodedTranscription, TranscriptionFormat, TranscriptionTarget } from '../format.ts';
import { decodeAnswer, decodeEvent } from './answer.ts';

/** The form of the vendor that most hosts speak. @source openai 7.55, `audio.transcriptions` and `audio.translations` */
export const openAiTranscription: TranscriptionFormat = {
  id: 'stt/openai',
  streams: true,
  encode,
  decode: decodeAnswer,
  decodeEvent,
  decodeError,
};

/** Members of the vendor's that are lists, by the names that its forms give them. */
const LISTED = /^(?:known_speaker_names|known_speaker_references)$/;

function encode(
  operation: TranscriptionOperation,
  { model, answersIn, stream, options }: TranscriptionTarget,
): EncodedTranscription {
  const { audio, task, language, prompt, temperature, granularities, hasLogprobs, extra } = operation;
  const text = (name: string, value: string | number | undefined): readonly FormPart[] =>
    value === undefined ? [] : [{ name, value: String(value) }];
  const list = (name: string, values: readonly string[] = []): readonly FormPart[] =>
    values.map((value) => ({ name: `${name}[]`, value }));
  const passed = extra?.format === 'stt/openai' ? extra.fields : {};
  const parts: readonly FormPart[] = [
    // The caller's own name for the file does not leave, and vendors read the type from its ending.
    {
      name: 'file',
      file: audio.file,
      filename: `audio.${EXTENSION_OF_AUDIO[audio.type]}`,
      type: MEDIA_TYPE_OF_AUDIO[audio.type],
    },
    ...text('model', model),
    ...(task === 'translate' ? [] : text('language', language)),
    ...text('prompt', prompt),
    ...text('response_format', answersIn),
    ...text('temperature', temperature),
    ...(answersIn === 'verbose_json' ? list('timestamp_granularities', granularities) : []),
    ...list('include', hasLogprobs ? ['logprobs'] : []),
    ...list('languages', operation.languages),
    ...list('keywords', operation.keywords),
    ...(stream ? text('stream', 'true') : []),
  ];
  const added = membersBeside([...parts.map(({ name }) => name), ...Object.keys(passed)], options);
  const more = Object.entries({ ...passed, ...added }).flatMap(([name, value]) => extraParts(name, value));
  return {
    path: task === 'translate' ? '/audio/translations' : '/audio/transcriptions',
    source: encodeForm([...parts, ...more]),
    warnings: [],
  };
}

function extraParts(name: string, value: Json | undefined): readonly FormPart[] {
  if (Array.isArray(value) && LISTED.test(name))
    return value.map((item) => ({ name: `${name}[]`, value: String(item) }));
  return value === undefined ? [] : [{ name, value: typeof value === 'string' ? value : JSON.stringify(value) }];
}
