import { randomUUID } from 'node:crypto';
import type { Warning } from '../../../canonical/extra.ts';
import type { TranscriptionOperation } from '../../../canonical/transcription.ts';
import { tokenCount } from '../../../canonical/usage.ts';
import { MEDIA_TYPE_OF_AUDIO } from '../../../lib/audio/audio-type.ts';
import type { ByteSource } from '../../../lib/files/spool.ts';
import { parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { decodeError } from '../../upstream-error.ts';
import type { EncodedTranscription, TranscriptionFormat, TranscriptionTarget } from '../format.ts';
import type { Transcript } from '../transcript.ts';

/**
 * A model that hears in a conversation, with the task to write down what it hears. It gives no times. @source @google/genai 2.32,
 * `GenerateContentParameters`
 */
export const geminiTranscription: TranscriptionFormat = {
  id: 'stt/gemini',
  streams: false,
  encode,
  decode: (text) => decode(text),
  decodeEvent: () => undefined,
  decodeError,
};

const TASK =
  'Write down word for word what is said in this recording, in the language in which it is said. Give only these words, without a title, times, names of speakers or remarks. If nothing is said, give nothing.';

function encode(operation: TranscriptionOperation, { model }: TranscriptionTarget): EncodedTranscription {
  const { audio, language, prompt, temperature, keywords = [], hasLogprobs } = operation;
  const hints = [
    TASK,
    ...(language === undefined ? [] : [`The language is ${language}.`]),
    ...(keywords.length === 0 ? [] : [`Words that may be said: ${keywords.join(', ')}.`]),
    ...(prompt === undefined ? [] : [`What came before, or how it is to be written: ${prompt}`]),
  ];
  const mimeType = MEDIA_TYPE_OF_AUDIO[audio.type];
  // The sound stands where the mark is, and is encoded while it is sent.
  const body: JsonObject = {
    contents: [{ role: 'user', parts: [{ text: hints.join('\n') }, { inlineData: { mimeType, data: MARK } }] }],
    generationConfig: { temperature: temperature ?? 0 },
  };
  const [head = '', tail = ''] = JSON.stringify(body).split(MARK);
  return {
    path: `/models/${encodePathSegment(model.replace(/^models\//, ''))}:generateContent`,
    source: { ...encodeAround(head, audio.file, tail), contentType: 'application/json' },
    warnings: hasLogprobs ? [NO_LOGPROBS] : [],
  };
}

/** No JSON holds it otherwise: a caller's text that does would be cut, so it has a number that no caller knows. */
const MARK = randomUUID();
const NO_LOGPROBS: Warning = { code: 'field-dropped', path: 'include', message: 'has no word at this provider' };
const TRIPLE = 3;
const QUAD = 4;

function encodeAround(head: string, file: ByteSource, tail: string): ByteSource {
  const [before, after] = [Buffer.from(head), Buffer.from(tail)];
  return {
    bytes: before.length + Math.ceil(file.bytes / TRIPLE) * QUAD + after.length,
    async *chunks() {
      yield before;
      let left = Buffer.alloc(0);
      for await (const chunk of file.chunks()) {
        const all = Buffer.concat([left, chunk]);
        const whole = all.length - (all.length % TRIPLE);
        left = all.subarray(whole);
        if (whole > 0) yield Buffer.from(all.subarray(0, whole).toString('base64'));
      }
      if (left.length > 0) yield Buffer.from(left.toString('base64'));
      yield after;
    },
  };
}

function decode(text: string): Transcript | undefined {
  const body = parseJsonObject(text);
  const [candidate] = objectsOf(body?.['candidates']);
  if (body === undefined || candidate === undefined || textOf(candidate['finishReason']) !== 'STOP') return undefined;
  const parts = objectsOf(objectOf(candidate['content'])?.['parts']).filter(({ thought }) => thought !== true);
  const counted = objectOf(body['usageMetadata']);
  const audioTokens = objectsOf(counted?.['promptTokensDetails']).find(({ modality }) => modality === 'AUDIO');
  const inputTokens = tokenCount(counted?.['promptTokenCount']);
  const made = tokenCount(counted?.['candidatesTokenCount']);
  const outputTokens = made === undefined ? undefined : made + (tokenCount(counted?.['thoughtsTokenCount']) ?? 0);
  const heard = tokenCount(audioTokens?.['tokenCount']);
  const { responseId: id } = body;
  return {
    text: parts
      .map((part) => textOf(part['text']) ?? '')
      .join('')
      .trim(),
    usage: {
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
      ...(heard !== undefined && { audioTokens: heard }),
    },
    ...(typeof id === 'string' && { id }),
  };
}
