import type { OperationFormatId, Warning } from '../../canonical/extra.ts';
import type { UpstreamErrorBody } from '../../canonical/failure/failure.ts';
import type { EmbeddingsInput } from '../../canonical/media/embeddings-input.ts';
import type { EmbeddingsOperation, VectorEncoding } from '../../canonical/operation.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { EmbeddingsDialect } from './dialect.ts';
import type { Vector } from './vectors.ts';

/** Where a part of an operation goes. */
export interface EmbeddingsTarget {
  /** The upstream's own name of the model. */
  readonly model: string;
  /** Hash of account and end user. */
  readonly endUserId: string;
  /** That is wanted of the upstream: the caller's, where it has it. */
  readonly encoding: VectorEncoding;
  readonly dialect: EmbeddingsDialect;
}

/** Some of the inputs of an operation. */
export interface EmbeddingsPart {
  readonly operation: EmbeddingsOperation;
  readonly inputs: readonly EmbeddingsInput[];
}

export interface EncodedPart {
  readonly body: JsonObject;
  readonly warnings: readonly Warning[];
}

/** As an upstream counted. Absent: it did not. */
export interface PartUsage {
  readonly promptTokens?: number;
  /** Of them those of pictures, and of sounds. */
  readonly imageTokens?: number;
  readonly audioTokens?: number;
}

/** What an upstream gave for a part. */
export interface DecodedPart extends PartUsage {
  /** In the order of the inputs. */
  readonly vectors: readonly Vector[];
  readonly id?: string;
}

/** A format in which upstreams make vectors. */
export interface EmbeddingsFormat {
  readonly id: OperationFormatId;
  /** Below the provider's base URL. */
  path(model: string): string;
  /** Inputs that one call takes, where the endpoint says nothing. */
  readonly inputsMax: number;
  /** In which it gives vectors, where nothing says otherwise. */
  readonly encodings: readonly VectorEncoding[];
  encode(part: EmbeddingsPart, target: EmbeddingsTarget): EncodedPart;
  /** An answer of status 200. @throws NotThatJson for what is no answer */
  decode(bytes: Buffer): DecodedPart;
  decodeError(text: string): UpstreamErrorBody;
}
