import type { OperationFormatId } from '../../canonical/extra.ts';
import { deepgramSpeech } from './deepgram/format.ts';
import { elevenLabsSpeech } from './elevenlabs/format.ts';
import type { UpstreamSpeechFormat } from './format.ts';
import { geminiSpeech } from './gemini/format.ts';
import { mistralSpeech } from './mistral/format.ts';
import { openAiSpeech } from './openai/format.ts';

/** Every format in which upstreams speak. */
export const UPSTREAM_SPEECH_FORMATS: ReadonlyMap<OperationFormatId, UpstreamSpeechFormat> = new Map(
  [openAiSpeech, elevenLabsSpeech, deepgramSpeech, geminiSpeech, mistralSpeech].map((format) => [format.id, format]),
);
