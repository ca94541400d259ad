import { MODALITY_OF_KIND, type OperationKind } from '../canonical/operation.ts';
import type { Model } from './model.ts';

/** Whether a model serves a kind. A name that a provider is handed as it is has no facts: what its provider offers decides. */
export function servesKind({ outputModalities, endpoints }: Model, kind: OperationKind): boolean {
  if (outputModalities !== undefined) return outputModalities.includes(MODALITY_OF_KIND[kind]);
  return endpoints.some(({ offers }) => offers?.[kind] !== undefined);
}

const ROUTE_OF_MODALITY: Readonly<Record<string, string>> = {
  text: '/chat/completions, /messages or /responses',
  embeddings: '/embeddings',
  rerank: '/rerank',
  image: '/images',
  transcription: '/audio/transcriptions',
  speech: '/audio/speech',
  video: '/videos',
  decisions: '/alpha/decisions',
};
const TEXT_ALONE = ['text'] as const;

/** What is known of the model, else of its endpoints. */
function outputsOf({ outputModalities, endpoints }: Model): readonly string[] {
  return outputModalities ?? [...new Set(endpoints.flatMap((endpoint) => endpoint.outputModalities ?? TEXT_ALONE))];
}

/** Whether a model answers questions by itself. */
export function isDecisionModel(model: Model): boolean {
  return outputsOf(model).includes('decisions');
}

/** Where the requests to a model belong, for an error. */
export function routesOf(model: Model): string {
  return outputsOf(model)
    .flatMap((modality) => ROUTE_OF_MODALITY[modality] ?? [])
    .join(' or ');
}

/** What no conversation is made of. */
const SILENT: ReadonlySet<string> = new Set(['embeddings', 'rerank', 'transcription', 'speech', 'video', 'decisions']);

/** Whether a model takes no part in conversations. Every generation asks: nothing is made for the answer. */
export function isSilent({ outputModalities, endpoints }: Model): boolean {
  if (outputModalities !== undefined) return areSilent(outputModalities);
  return (
    endpoints.length > 0 &&
    endpoints.every((endpoint) => endpoint.outputModalities !== undefined && areSilent(endpoint.outputModalities))
  );
}

function areSilent(modalities: readonly string[]): boolean {
  return modalities.length > 0 && modalities.every((modality) => SILENT.has(modality));
}
