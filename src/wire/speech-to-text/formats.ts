import type { OperationFormatId } from '../../canonical/extra.ts';
import { assemblyAiTranscription } from './assemblyai/format.ts';
import { deepgramTranscription } from './deepgram/format.ts';
import { elevenLabsTranscription } from './elevenlabs/format.ts';
import type { TranscriptionFormat } from './format.ts';
import { geminiTranscription } from './gemini/format.ts';
import { openAiTranscription } from './openai/format.ts';

/** Every format in which upstreams turn sound into text. */
export const TRANSCRIPTION_FORMATS: ReadonlyMap<OperationFormatId, TranscriptionFormat> = new Map(
  [
    openAiTranscription,
    assemblyAiTranscription,
    deepgramTranscription,
    elevenLabsTranscription,
    geminiTranscription,
  ].map((format) => [format.id, format]),
);
