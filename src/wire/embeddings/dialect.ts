import type { JsonObject } from '../../lib/json.ts';
import type { VectorEncoding } from '../../canonical/operation.ts';

/** In what hosts of the openai form differ. Everything is that vendor's own by default. */
export interface EmbeddingsDialect {
  /** What it calls `dimensions`. */
  readonly dimensionsMember?: string;
  /** What it calls `encoding_format`. */
  readonly encodingMember?: string;
  /** What it calls the purpose of a vector. Absent: it has no word for it. */
  readonly inputTypeMember?: string;
  /** Its words for purposes, where it takes no others. */
  readonly inputTypes?: Readonly<Record<string, string>>;
  /** Encodings that it has. Absent: both. */
  readonly encodings?: readonly VectorEncoding[];
  /** It has no member for the end user. */
  readonly withoutUser?: true;
  /** Members that every request carries, where the caller does not set them. */
  readonly body?: JsonObject;
}
