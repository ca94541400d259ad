import { z } from 'zod';
import { invalid } from '../../canonical/gateway-error.ts';
import { TRANSCRIPT_FORMATS, type TranscriptionOperation } from '../../canonical/transcription.ts';
import type { AudioFile } from '../../canonical/audio.ts';
import type { Json } from '../../lib/json.ts';
import { restOf } from '../extra.ts';
import { decodeDirectives, GATEWAY_FIELDS, gatewayShape, modelOf, modelSlug } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { metadata } from '../gateway/metadata.ts';
import { refuseMembers } from '../gateway/validation/refused-members.ts';
import { callersExtra, providerWithOptions, splitOptions } from '../provider-options.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';
import type { FormFieldTypes } from '../gateway/validation/form-fields.ts';

const PROMPT_CHARS_MAX = 10_000;
const KEYWORDS_MAX = 1_000;
const KEYWORD_CHARS_MAX = 200;
const LANGUAGES_MAX = 100;
const USER_CHARS_MAX = 256;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
/** ISO 639, with tags: `en`, `deu`, `pt-BR`. */
const language = z
  .string()
  .regex(/^[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}$/i, 'must be a language such as "en" or "pt-BR"');

/** The body of the transcription routes, without the sound. Null is the same as absent. */
export const transcriptionSchema = z.looseObject({
  model: modelSlug.nullish(),
  language: language.nullish(),
  languages: z.array(language).max(LANGUAGES_MAX).nullish(),
  keywords: z.array(z.string().min(1).max(KEYWORD_CHARS_MAX)).max(KEYWORDS_MAX).nullish(),
  prompt: z.string().max(PROMPT_CHARS_MAX).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  response_format: z.enum(TRANSCRIPT_FORMATS).nullish(),
  timestamp_granularities: z.array(z.enum(['word', 'segment'])).nullish(),
  include: z.array(z.literal('logprobs')).nullish(),
  stream: z.boolean().nullish(),
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});

/** What the fields of a form stand for. */
export const TRANSCRIPTION_FIELDS: FormFieldTypes = {
  temperature: 'number',
  stream: 'boolean',
  languages: 'texts',
  keywords: 'texts',
  timestamp_granularities: 'texts',
  include: 'texts',
  known_speaker_names: 'texts',
  known_speaker_references: 'texts',
  diarize: 'boolean',
  provider: 'json',
  trace: 'json',
  metadata: 'json',
};

const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(transcriptionSchema.shape),
  ...GATEWAY_FIELDS,
  'input_audio',
  'file',
]);

compileSoon(transcriptionSchema);

export interface TranscriptionBody {
  readonly body: Json;
  readonly text: string;
  readonly headers: HeaderDirectives;
  readonly audio: AudioFile;
  readonly task: TranscriptionOperation['task'];
  readonly isForm: boolean;
  /** Of a request that names none. */
  readonly defaultModel?: string | undefined;
}

/** @throws GatewayError 400 with `issues` */
export function decodeTranscription(sent: TranscriptionBody): TranscriptionOperation {
  const { headers, audio, task, isForm } = sent;
  const parsed = checkShape(transcriptionSchema, sent.body, { text: sent.text });
  refuseMembers(parsed, 'transcriptions');
  const responseFormat = parsed.response_format ?? 'json';
  const granularities = parsed.timestamp_granularities ?? [];
  if (granularities.length > 0 && responseFormat !== 'verbose_json')
    throw invalid('timestamp_granularities', 'needs "response_format": "verbose_json"');
  const hasLogprobs = (parsed.include ?? []).length > 0;
  if (hasLogprobs && responseFormat !== 'json') throw invalid('include', 'needs "response_format": "json"');
  const isTranslation = task === 'translate';
  if (isTranslation && parsed.stream === true) throw invalid('stream', 'does not apply to translations');
  if (isTranslation && responseFormat === 'diarized_json')
    throw invalid('response_format', 'must be json, verbose_json, text, srt or vtt for translations');
  const { preferences, options } = splitOptions(parsed.provider);
  const fields = {
    provider: preferences,
    ...(parsed.session_id && { session_id: parsed.session_id }),
    ...(parsed.trace && { trace: parsed.trace }),
  };
  return {
    kind: 'stt',
    delivery: parsed.stream === true ? 'stream' : 'whole',
    task,
    audio,
    responseFormat,
    ...(parsed.language && !isTranslation && { language: parsed.language }),
    ...(parsed.prompt && { prompt: parsed.prompt }),
    ...(typeof parsed.temperature === 'number' && { temperature: parsed.temperature }),
    granularities,
    hasLogprobs,
    ...(parsed.languages && { languages: parsed.languages }),
    ...(parsed.keywords && { keywords: parsed.keywords }),
    fillsSegments: isForm,
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(fields, headers, {
      model: modelOf(parsed, sent.defaultModel),
      user: parsed.user ?? undefined,
      metadata: parsed.metadata ?? undefined,
    }),
    ...callersExtra('stt/openai', restOf(parsed, KNOWN)),
    warnings: [],
  };
}
