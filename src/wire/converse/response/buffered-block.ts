import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { joinBase64 } from '../redacted-content.ts';
import { textOf, type WireObject } from '../../json-fields.ts';

/** Bound on a block that is held: more than any image or result of a tool has. */
export const BUFFERED_CHARS_MAX = 32 * 1024 * 1024;

/** A block of a stream that can only be given complete: its pieces are base64 with padding, or JSON. */
export interface BufferedBlock {
  readonly kind: 'redactedContent' | 'image' | 'toolResult';
  /** The content of the opening. */
  readonly start: JsonObject;
  readonly pieces: Json[];
  chars: number;
}

export function openBuffer(kind: BufferedBlock['kind'], start: JsonObject): BufferedBlock {
  return { kind, start, pieces: [], chars: 0 };
}

export function addPiece(buffered: BufferedBlock, piece: Json): void {
  buffered.pieces.push(piece);
  buffered.chars += typeof piece === 'string' ? piece.length : JSON.stringify(piece).length;
}

/** The block as a whole response would have it. */
export function assembleBlock({ kind, start, pieces }: BufferedBlock): WireObject {
  switch (kind) {
    case 'redactedContent':
      return { reasoningContent: { redactedContent: joinBase64(texts(pieces)) } };
    case 'image':
      return { image: { ...start, source: { bytes: joinBase64(texts(pieces)) } } };
    case 'toolResult':
      return { toolResult: { ...start, content: joinTexts(pieces) } };
    default:
      return unreachable(kind);
  }
}

function texts(pieces: readonly Json[]): readonly string[] {
  return pieces.filter((piece) => typeof piece === 'string');
}

/** Text comes in pieces, JSON at once. */
function joinTexts(pieces: readonly Json[]): readonly Json[] {
  const content: Json[] = [];
  let text: string | undefined;
  for (const piece of pieces) {
    const more = isJsonObject(piece) ? textOf(piece['text']) : undefined;
    if (more !== undefined) {
      text = (text ?? '') + more;
      continue;
    }
    if (text !== undefined) content.push({ text });
    text = undefined;
    content.push(piece);
  }
  if (text !== undefined) content.push({ text });
  return content;
}
