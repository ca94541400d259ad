import type { MediaBlock } from '../blocks.ts';

/** A picture, a sound, a clip or a document: an address, or a data URL once it was fetched. */
export interface EmbeddedMedia {
  readonly type: 'media';
  readonly media: MediaBlock['media'];
  /** Where it stands in the request. */
  readonly path: string;
  readonly url: string;
}

export type ContentPiece = { readonly type: 'text'; readonly text: string } | EmbeddedMedia;

/** Pieces of which one vector is made together. */
export interface EmbeddingsContent {
  readonly pieces: readonly ContentPiece[];
}

/** One vector is made of each: a text, the tokens of one, or content of several kinds. */
export type EmbeddingsInput = string | readonly number[] | EmbeddingsContent;

export function isContent(input: EmbeddingsInput): input is EmbeddingsContent {
  return typeof input === 'object' && 'pieces' in input;
}

export function isTokens(input: EmbeddingsInput): input is readonly number[] {
  return Array.isArray(input);
}

/** A text is content of one piece. Tokens are none that can be read. */
export function piecesOf(input: EmbeddingsInput): readonly ContentPiece[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }];
  return isContent(input) ? input.pieces : [];
}

/** The texts of all inputs, in order. */
export function textsOfInputs(inputs: readonly EmbeddingsInput[]): readonly string[] {
  return inputs.flatMap((input) => piecesOf(input).flatMap((piece) => (piece.type === 'text' ? [piece.text] : [])));
}

/** The same inputs with these in the place of their texts, one for each. */
export function withTextsOfInputs(
  inputs: readonly EmbeddingsInput[],
  texts: readonly string[],
): readonly EmbeddingsInput[] {
  let next = 0;
  const take = (own: string): string => texts[next++] ?? own;
  return inputs.map((input) => {
    if (typeof input === 'string') return take(input);
    if (!isContent(input)) return input;
    return {
      pieces: input.pieces.map((piece) => (piece.type === 'text' ? { ...piece, text: take(piece.text) } : piece)),
    };
  });
}

/** Everything in the inputs that is no text. */
export function mediaOfInputs(inputs: readonly EmbeddingsInput[]): readonly EmbeddedMedia[] {
  return inputs.flatMap((input) =>
    isContent(input) ? input.pieces.filter((piece): piece is EmbeddedMedia => piece.type === 'media') : [],
  );
}
