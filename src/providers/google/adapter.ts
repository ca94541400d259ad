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
    // ai.google.dev "Image generation", read 2026-11: one picture an answer, as many as 14 to make it from.
    {
      kind: 'image',
      format: 'image/gemini',
      models: /image/,
      image: { nMax: 1, referencesMax: 14, mask: false, streaming: false },
    },
  ],
  dialect: ({ model }) => geminiDialectOf(model),
  authorize,
  classify,
};

/** A header, although the vendor's examples put the key into the address: addresses end up in logs. */
function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { 'x-goog-api-key': settings.apiKey };
}
