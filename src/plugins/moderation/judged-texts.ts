import type { Block } from '../../canonical/blocks.ts';
import type { GenerationRequest } from '../../canonical/request.ts';

/** Classifiers read so much at a time. */
const PIECE_CHARS_MAX = 10_000;
/** Where a text is cut the pieces share so much: no sentence is lost between two of them. */
const PIECE_CHARS_SHARED = 200;

/** What users wrote, the latest last; documents in plain text are theirs, too, results of tools are not. */
export function userTexts({ turns }: Pick<GenerationRequest, 'turns'>): readonly string[] {
  return turns
    .filter(({ role }) => role === 'user')
    .flatMap(({ name, blocks }) => [...(name === undefined ? [] : [name]), ...textsIn(blocks)]);
}

function textsIn(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block): readonly string[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [block.text];
    if (block.type !== 'media') return [];
    const { source } = block;
    if (source.type === 'text') return [source.text];
    return source.type === 'blocks' ? textsIn(source.blocks) : [];
  });
}

/** The amount of text in one call of a classifier, and the number of calls for one request. */
export interface CallBounds {
  readonly piecesMax: number;
  readonly charsMax: number;
  readonly callsMax: number;
}

/**
 * The texts in pieces, as they are sent together; the last ones if there are too many. Earlier texts may never have
 * been judged: the caller alone says what came before.
 */
export function splitIntoCalls(texts: readonly string[], bounds: CallBounds): readonly (readonly string[])[] {
  const calls: string[][] = [];
  let chars = 0;
  for (const piece of texts.flatMap(cut).toReversed()) {
    const last = calls.at(-1);
    if (last !== undefined && last.length < bounds.piecesMax && chars + piece.length <= bounds.charsMax) {
      last.push(piece);
      chars += piece.length;
    } else if (calls.length === bounds.callsMax) break;
    else {
      calls.push([piece]);
      chars = piece.length;
    }
  }
  return calls.map((pieces) => pieces.toReversed()).toReversed();
}

function cut(text: string): readonly string[] {
  if (text.length <= PIECE_CHARS_MAX) return [text.toWellFormed()];
  const pieces: string[] = [];
  const step = PIECE_CHARS_MAX - PIECE_CHARS_SHARED;
  for (let at = 0; at + PIECE_CHARS_SHARED < text.length; at += step)
    pieces.push(text.slice(at, at + PIECE_CHARS_MAX).toWellFormed());
  return pieces;
}
