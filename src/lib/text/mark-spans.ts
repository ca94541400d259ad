/** The characters of a text from `start` up to, not including, `end`, UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A stretch of a text, and what is to stand there instead. */
export interface Mark extends Span {
  readonly label: string;
}

/** A text in which marked stretches are replaced, and the way back. */
export interface Rewritten {
  readonly text: string;
  /** The stretch of the text as it was; `undefined` for one that lies inside of what was put in. */
  readonly back: (span: Span) => Span | undefined;
}

/** Marks that overlap become one, under the label of the one that begins first, of two the longer one's. */
export function mergeMarks(marks: readonly Mark[]): readonly Mark[] {
  const merged: Mark[] = [];
  for (const mark of marks.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = merged.at(-1);
    if (last === undefined || mark.start >= last.end) merged.push(mark);
    else if (mark.end > last.end) merged[merged.length - 1] = { ...last, end: mark.end };
  }
  return merged;
}

interface Piece extends Span {
  readonly from: Span;
  readonly isLabel: boolean;
}

/** @param marks in order, none over another */
export function rewriteMarks(text: string, marks: readonly Mark[]): Rewritten {
  const parts: string[] = [];
  const pieces: Piece[] = [];
  let [length, at] = [0, 0];
  const put = (part: string, from: Span, isLabel: boolean): void => {
    pieces.push({ start: length, end: length + part.length, from, isLabel });
    parts.push(part);
    length += part.length;
  };
  for (const { start, end, label } of marks) {
    if (start > at) put(text.slice(at, start), { start: at, end: start }, false);
    put(label, { start, end }, true);
    at = end;
  }
  if (at < text.length) put(text.slice(at), { start: at, end: text.length }, false);
  return { text: parts.join(''), back: (span) => backTo(pieces, span) };
}

function backTo(pieces: readonly Piece[], { start, end }: Span): Span | undefined {
  const first = pieceAt(pieces, start);
  const last = pieceAt(pieces, end - 1);
  if (first === undefined || last === undefined || (first === last && first.isLabel)) return undefined;
  return {
    start: first.isLabel ? first.from.start : first.from.start + start - first.start,
    end: last.isLabel ? last.from.end : last.from.start + end - last.start,
  };
}

/** They lie side by side, in order. */
function pieceAt(pieces: readonly Piece[], place: number): Piece | undefined {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle]?.start ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return pieces[low];
}
