import type { CallContext, ProviderAdapter } from '../contract.ts';
import { classify } from './classify.ts';
import { dialectOf } from './dialect.ts';

/** Cohere, in the second version of its own format. */
export const cohereAdapter: ProviderAdapter = {
  id: 'cohere',
  name: 'Cohere',
  baseUrl: 'https://api.cohere.com/v2',
  apiKeyVariable: 'COHERE_API_KEY',
  formats: [{ format: 'cohere' }],
  offers: [
    { kind: 'embeddings', format: 'embeddings/cohere' },
    // docs.cohere.com, "Rerank" reference, read 2026-11: 10,000 documents a call at most.
    { kind: 'rerank', format: 'rerank/cohere', rerank: { maxDocuments: 10_000 } },
  ],
  // The list of models stayed in the first version of the interface: crmne/ruby_llm (2026-08).
  checkPath: false,
  // @spec money-18: hanging up stops the meter.
  cancellable: true,
  dialect: ({ model }) => dialectOf(model),
  authorize,
  classify,
};

function authorize({ settings }: CallContext): Readonly<Record<string, string>> {
  return settings.apiKey === undefined ? {} : { authorization: `Bearer ${settings.apiKey}` };
}
