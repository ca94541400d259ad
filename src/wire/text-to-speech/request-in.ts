import { z } from 'zod';
import { invalid } from '../../canonical/gateway-error.ts';
import { SPEECH_FORMATS, type SpeechFormat, type SpeechOperation } from '../../canonical/speech.ts';
import type { Json } from '../../lib/json.ts';
import { restOf } from '../extra.ts';
import { decodeDirectives, GATEWAY_FIELDS, gatewayShape, modelOf, modelSlug } from '../gateway/directives.ts';
import type { HeaderDirectives } from '../gateway/headers.ts';
import { metadata } from '../gateway/metadata.ts';
import { callersExtra, providerWithOptions, splitOptions } from '../provider-options.ts';
import { checkShape } from '../gateway/validation/check-shape.ts';
import { compileSoon } from '../gateway/validation/fast-schema.ts';
import { refuseMembers } from '../gateway/validation/refused-members.ts';

const INPUT_CHARS_MAX = 50_000;
const INSTRUCTIONS_CHARS_MAX = 10_000;
const VOICE_CHARS_MAX = 256;
const USER_CHARS_MAX = 256;
const SPEED_MIN = 0.25;
const SPEED_MAX = 4;

const { session_id, trace } = gatewayShape({ plugin: z.never() });
const voice = z.string().min(1).max(VOICE_CHARS_MAX);

/** The body of `POST /audio/speech`. Null is the same as absent. */
export const speechSchema = z.looseObject({
  model: modelSlug.nullish(),
  input: z.string().min(1),
  voice: z.union([voice, z.object({ id: voice })]).nullish(),
  response_format: z.enum(SPEECH_FORMATS).nullish(),
  speed: z.number().min(SPEED_MIN).max(SPEED_MAX).nullish(),
  instructions: z.string().max(INSTRUCTIONS_CHARS_MAX).nullish(),
  stream_format: z.enum(['audio', 'sse']).nullish(),
  provider: providerWithOptions,
  user: z.string().max(USER_CHARS_MAX).nullish(),
  session_id: session_id.nullish(),
  trace: trace.nullish(),
  metadata: metadata.nullish(),
});

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(speechSchema.shape), ...GATEWAY_FIELDS, 'input_references']);

compileSoon(speechSchema);

/** Where the request says nothing. */
export interface SpeechDefaults {
  /** What the caller's client expects. */
  readonly format: SpeechFormat;
  readonly model?: string | undefined;
}

/** @throws GatewayError 400 with `issues` */
export function decodeSpeech(
  body: Json,
  text: string,
  headers: HeaderDirectives,
  defaults: SpeechDefaults,
): SpeechOperation {
  const parsed = checkShape(speechSchema, body, { text });
  refuseMembers(parsed, 'speech');
  if (parsed['input_references'] !== undefined && parsed['input_references'] !== null)
    throw invalid('input_references', 'is valid but not supported by this version of the gateway');
  if (parsed.input.length > INPUT_CHARS_MAX)
    throw invalid('input', `must have at most ${INPUT_CHARS_MAX} characters`, 'string_too_long');
  const { preferences, options } = splitOptions(parsed.provider);
  const fields = {
    provider: preferences,
    ...(parsed.session_id && { session_id: parsed.session_id }),
    ...(parsed.trace && { trace: parsed.trace }),
  };
  const name = typeof parsed.voice === 'object' ? parsed.voice?.id : parsed.voice;
  return {
    kind: 'tts',
    delivery: 'stream',
    input: parsed.input,
    ...(name && { voice: name }),
    responseFormat: parsed.response_format ?? defaults.format,
    ...(typeof parsed.speed === 'number' && { speed: parsed.speed }),
    ...(parsed.instructions && { instructions: parsed.instructions }),
    streamFormat: parsed.stream_format ?? 'audio',
    ...(options !== undefined && { providerOptions: options }),
    directives: decodeDirectives(fields, headers, {
      model: modelOf(parsed, defaults.model),
      user: parsed.user ?? undefined,
      metadata: parsed.metadata ?? undefined,
    }),
    ...callersExtra('tts/openai', restOf(parsed, KNOWN)),
    warnings: [],
  };
}
