import { ownEntry } from '../json-fields.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Warning } from '../../canonical/extra.ts';
import type { EmbeddingsOperation, VectorEncoding } from '../../canonical/operation.ts';

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
  /** How it takes content that is not one text: a list of parts, or one of them alone. Absent: it takes none. */
  readonly content?: 'parts' | 'single';
  /** It has no member for the end user. */
  readonly withoutUser?: true;
  /** Members that every request carries, where the caller does not set them. */
  readonly body?: JsonObject;
}

/** The purpose of vectors, in the host's words. */
export function purposeOf(
  { inputType }: Pick<EmbeddingsOperation, 'inputType'>,
  { inputTypeMember, inputTypes }: EmbeddingsDialect,
): { readonly members: JsonObject; readonly warnings: readonly Warning[] } {
  if (inputType === undefined) return { members: {}, warnings: [] };
  const word = inputTypes === undefined ? inputType : ownEntry(inputTypes, inputType);
  if (word !== undefined && inputTypeMember !== undefined)
    return { members: { [inputTypeMember]: word }, warnings: [] };
  const message = `${JSON.stringify(inputType)} has no word at this provider`;
  return { members: {}, warnings: [{ code: 'field-dropped', path: 'input_type', message }] };
}
