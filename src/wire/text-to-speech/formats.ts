import type { OperationFormatId } from '../../canonical/extra.ts';
import { elevenLabsSpeech } from './elevenlabs/format.ts';
import type { UpstreamSpeechFormat } from './format.ts';
import { openAiSpeech } from './openai/format.ts';

/** Every format in which upstreams speak. */
export const UPSTREAM_SPEECH_FORMATS: ReadonlyMap<OperationFormatId, UpstreamSpeechFormat> = new Map(
  [openAiSpeech, elevenLabsSpeech].map((format) => [format.id, format]),
);
