import type { Directives } from './directives.ts';
import type { Extra, Warning } from './extra.ts';
import type { JsonObject } from '../lib/json.ts';

/** A text, or an object with a `text` or an `image` and whatever its caller keeps there. */
export type RerankDocument = string | JsonObject;

/** A request for the order of documents by a query. */
export interface RerankOperation {
  readonly kind: 'rerank';
  readonly delivery: 'whole';
  readonly query: string;
  readonly documents: readonly RerankDocument[];
  /** Results that are wanted. Absent: all. */
  readonly topN?: number;
  /** The results hold their documents. */
  readonly returnDocuments: boolean;
  readonly maxTokensPerDoc?: number;
  /** The results stand in `data`, too, as clients of Voyage read them. */
  readonly asList: boolean;
  /** Members for single providers, by slug. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  /** For the gateway itself, never sent upstream. */
  readonly directives: Directives;
  /** Members of the body that the gateway does not know. */
  readonly extra?: Extra;
  readonly warnings: readonly Warning[];
}

/** What is known of a model that orders documents, at one provider. Absent: unknown, which excludes nothing. */
export interface RerankFacts {
  /** Documents that one call takes. */
  readonly maxDocuments?: number;
  /** Each document is scored by itself, so that a long list may be cut. */
  readonly pointwise?: boolean;
  /** It reads pictures. Absent: it does not. */
  readonly images?: boolean;
}

/** What is read of a document; an object without a text as the JSON that it is. */
export function textOfDocument(document: RerankDocument): string {
  if (typeof document === 'string') return document;
  const { text } = document;
  return typeof text === 'string' ? text : JSON.stringify(document);
}

/** As Cohere counts: long documents count once for each started piece of so many tokens, a hundred pieces are a unit. */
const PIECE_TOKENS = 500;
const UNIT_PIECES = 100;

/** @source cohere.com/pricing, "A single search unit", as quoted by developersdigest.tech, read 2026-11 */
export function countSearchUnits(documentTokens: readonly number[]): number {
  const pieces = documentTokens.reduce((sum, tokens) => sum + Math.max(1, Math.ceil(tokens / PIECE_TOKENS)), 0);
  return Math.ceil(pieces / UNIT_PIECES);
}

/** A document that is read as a picture. */
export function isPictureDocument(document: RerankDocument): boolean {
  return typeof document !== 'string' && typeof document['text'] !== 'string';
}
