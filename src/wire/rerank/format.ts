import type { OperationFormatId, Warning } from '../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { RerankDocument, RerankOperation } from '../../canonical/rerank.ts';
import type { JsonObject } from '../../lib/json.ts';

/** Some of the documents of an operation. */
export interface RerankPart {
  readonly operation: RerankOperation;
  readonly documents: readonly RerankDocument[];
  /** They are all: the upstream may leave out what is not wanted. */
  readonly isWhole: boolean;
  /** The upstream's own name of the model. */
  readonly model: string;
  /** It reads objects with a picture. */
  readonly readsImages: boolean;
}

export interface EncodedRerank {
  readonly body: JsonObject;
  readonly warnings: readonly Warning[];
}

/** One document's score, in the digits that its upstream wrote. */
export interface Score {
  /** The document's place in its part. */
  readonly index: number;
  readonly value: number;
  readonly text: string;
}

export interface DecodedRerank {
  readonly scores: readonly Score[];
  /** As it counted; absent: it did not. */
  readonly totalTokens?: number;
  readonly searchUnits?: number;
  readonly id?: string;
}

/** A format in which upstreams order documents. */
export interface RerankFormat {
  readonly id: OperationFormatId;
  /** Below the provider's base URL. */
  readonly path: string;
  encode(part: RerankPart): EncodedRerank;
  /** An answer of status 200. @throws NotThatJson for what is no answer */
  decode(bytes: Buffer): DecodedRerank;
  decodeError(text: string): UpstreamErrorBody;
}
