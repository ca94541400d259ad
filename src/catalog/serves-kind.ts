import { MODALITY_OF_KIND, type OperationKind } from '../canonical/operation.ts';
import type { Model } from './model.ts';

/** Whether a model serves a kind. A name that a provider is handed as it is has no facts: what its provider offers decides. */
export function servesKind({ outputModalities, endpoints }: Model, kind: OperationKind): boolean {
  if (outputModalities !== undefined) return outputModalities.includes(MODALITY_OF_KIND[kind]);
  return endpoints.some(({ offers }) => offers?.[kind] !== undefined);
}
