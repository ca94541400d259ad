import type { CallContext, ProviderAdapter } from '../contract.ts';
import { classify } from './classify.ts';
import { geminiDialectOf } from './dialect.ts';
import { googleOptions } from './options.ts';

/** Google AI Studio, where a key is enough. Google Cloud is `google-vertex`. */
export const googleAdapter: ProviderAdapter = {
  id: 'google',
  name: 'Google AI Studio',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  apiKeyVariable: 'GEMINI_API_KEY',
  options: googleOptions,
  formats: [{ format: 'gemini' }],
  offers: [
    { kind: 'embeddings', format: 'embeddings/gemini' },
    { kind: 'video', format: 'video/veo', models: /^veo-/ },
    // What is called in a conversation: Imagen has a call of its own. The catalog says which of them draws, and not the name:
    // Nano Banana 2.1 is `gemini-nano-banana-2.1`. One picture an answer, as many as 14 to make it from, no mask.
    // firebase.google.com/docs/ai-logic "Count tokens", list of models; InvokeAI's guide "Google Gemini"; both read 2026-11.
    {
      kind: 'image',
      format: 'image/gemini',
      models: /^(?:models\/)?(?:gemini|nano-banana)-/,
      image: { nMax: 1, referencesMax: 14, mask: false, streaming: false },
    },
    // ai.google.dev "Audio understanding", read 2026-11: a request with its sound inside has at most 20 MB.
    {
      kind: 'stt',
      format: 'stt/gemini',
      models: /^(?:models\/)?gemini-/,
      transcription: { formats: ['json', 'text'], streaming: false, maxBytes: 14_680_064 },
    },
    // ai.google.dev "Speech generation", read 2026-11: one voice, samples of 24 kHz.
    { kind: 'tts', format: 'tts/gemini', models: /-tts\b/, speech: { formats: ['pcm'], sampleRate: 24_000 } },
  ],
  dialect: ({ model }) => geminiDialectOf(model),
  authorize,
  classify,
};

/** A header, although the vendor's examples put the key into the address: addresses end up in logs. */
function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { 'x-goog-api-key': settings.apiKey };
}
