import { z } from 'zod';
import type { JsonObject } from '../../lib/json.ts';
import type { SchemaComponents } from './components.ts';
import { jsonContent } from './content.ts';
import { serializeErrors } from './errors.ts';

const STATUSES = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529];

const usage = z.looseObject({
  type: z.enum(['duration', 'tokens']),
  cost: z.number().nullable(),
  is_byok: z.boolean(),
});
const segment = z.looseObject({
  id: z.union([z.int(), z.string()]),
  start: z.number(),
  end: z.number(),
  text: z.string(),
});
const word = z.looseObject({ word: z.string(), start: z.number(), end: z.number() });
const transcript = z.looseObject({
  text: z.string(),
  task: z.string().optional(),
  language: z.string().optional(),
  duration: z.number().optional(),
  segments: z.array(segment).optional(),
  words: z.array(word).optional(),
  usage,
  id: z.string(),
  model: z.string(),
  provider: z.string(),
});

const inputAudio = z.strictObject({ data: z.string().describe('Base64.'), format: z.string() });

export interface AudioSchemas {
  /** Their members but for the sound. */
  readonly transcription: z.ZodObject<z.ZodRawShape>;
  readonly speech: z.ZodObject<z.ZodRawShape>;
}

const BINARY: JsonObject = { type: 'string', format: 'binary' };
const TEXT: JsonObject = { type: 'string' };

/** The paths of sound. */
export function serializeAudio(
  components: SchemaComponents,
  { transcription, speech }: AudioSchemas,
  error: JsonObject,
): Readonly<Record<string, { readonly post: JsonObject }>> {
  const errors = serializeErrors(STATUSES, error);
  const sound = transcription.extend({ input_audio: inputAudio });
  const form = transcription.extend({ file: z.string().meta({ format: 'binary' }) });
  const body = {
    required: true,
    content: {
      ...jsonContent(components.add('TranscriptionRequest', sound, 'input')),
      'multipart/form-data': { schema: components.add('TranscriptionForm', form, 'input') },
    },
  };
  const answer = {
    description: 'The text, in the requested format.',
    content: {
      ...jsonContent(components.add('Transcription', transcript, 'output')),
      'text/plain': { schema: TEXT },
      'application/x-subrip': { schema: TEXT },
      'text/vtt': { schema: TEXT },
      'text/event-stream': { schema: TEXT },
    },
  };
  const ofSound = (operationId: string, summary: string): { readonly post: JsonObject } => ({
    post: {
      operationId,
      tags: ['Audio'],
      summary,
      security: [{ apiKey: [] }],
      requestBody: body,
      responses: { 200: answer, ...errors },
    },
  });
  return {
    '/audio/transcriptions': ofSound('createTranscription', 'Turn sound into text'),
    '/audio/translations': ofSound('createTranslation', 'Turn sound into English text'),
    '/audio/speech': {
      post: {
        operationId: 'createSpeech',
        tags: ['Audio'],
        summary: 'Speak a text',
        security: [{ apiKey: [] }],
        requestBody: { required: true, content: jsonContent(components.add('SpeechRequest', speech, 'input')) },
        responses: {
          200: {
            description: 'The sound, as it comes.',
            content: {
              'audio/pcm': { schema: BINARY },
              'audio/mpeg': { schema: BINARY },
              'audio/wav': { schema: BINARY },
              'audio/ogg': { schema: BINARY },
              'audio/flac': { schema: BINARY },
              'audio/aac': { schema: BINARY },
              'text/event-stream': { schema: TEXT },
            },
          },
          ...errors,
        },
      },
    },
  };
}
