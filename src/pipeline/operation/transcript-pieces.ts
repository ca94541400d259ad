import type { Mark, Span } from '../../content-filters/contract.ts';

/** Pieces of a transcript, and the one text that they make: a match may lie across them. */
export interface JoinedPieces {
  readonly pieces: readonly string[];
  readonly text: string;
  /** Where each piece stands in the text. */
  readonly spans: readonly Span[];
}

/** Segments of some vendors begin with the space between, those of others do not, and words never do. */
export function joinPieces(pieces: readonly string[]): JoinedPieces {
  const parts: string[] = [];
  const spans: Span[] = [];
  let length = 0;
  for (const piece of pieces) {
    const isApart = length === 0 || /^\s/.test(piece) || /\s$/.test(parts.at(-1) ?? '');
    if (!isApart) parts.push(' ');
    const start = isApart ? length : length + 1;
    parts.push(piece);
    length = start + piece.length;
    spans.push({ start, end: length });
  }
  return { pieces, text: parts.join(''), spans };
}

/** What of these marks lies in each piece. */
export function clipMarks({ pieces, spans }: JoinedPieces, marks: readonly Mark[]): readonly (readonly Mark[])[] {
  const next = marksFrom(marks);
  return pieces.map((piece, at) => {
    const span = spans[at] ?? NOWHERE;
    return next(span).flatMap(({ start, end, label }) => {
      const from = Math.max(start, span.start) - span.start;
      return trimmed(piece, { start: from, end: Math.min(end, span.end) - span.start, label });
    });
  });
}

/** Where pieces stand in a text that they spell, whatever its punctuation and the size of its letters. */
export interface PlacedPieces {
  /** `undefined`: the piece is one of those that spell something else, between others that do not. */
  readonly places: readonly (Span | undefined)[];
  /** The part of the text in whose place those are. */
  readonly gap: Span;
}

/** Places them from both ends, one right behind the other, so that a piece is never taken for one that reads the same. */
export function placePieces(text: string, pieces: readonly string[]): PlacedPieces {
  const places = Array.from<Span | undefined>({ length: pieces.length });
  let [first, last] = [0, pieces.length];
  let [start, end] = [0, text.length];
  for (; first < last; first++) {
    const place = spelledFrom(text, start, pieces[first] ?? '');
    if (place === undefined) break;
    places[first] = place;
    start = place.end;
  }
  for (; last > first; last--) {
    const place = spelledUpTo(text, end, pieces[last - 1] ?? '');
    if (place === undefined || place.start < start) break;
    places[last - 1] = place;
    end = place.start;
  }
  return { places, gap: { start, end } };
}

/** What of the marks of a text lies in each piece that is placed in it. */
export function marksOfPieces(
  text: string,
  marks: readonly Mark[],
  pieces: readonly string[],
  { places }: PlacedPieces,
): readonly (readonly Mark[])[] {
  const next = marksFrom(marks);
  return pieces.map((piece, at) => {
    const place = places[at];
    return place === undefined ? [] : next(place).flatMap((mark) => markOf(text, mark, { piece, from: place.start }));
  });
}

const NOWHERE: Span = { start: 0, end: 0 };

/** Of marks in order, those that reach into one stretch after the other. */
function marksFrom(marks: readonly Mark[]): (span: Span) => readonly Mark[] {
  let first = 0;
  return ({ start, end }) => {
    while ((marks[first]?.end ?? Infinity) <= start) first++;
    const found: Mark[] = [];
    for (let at = first; (marks[at]?.start ?? Infinity) < end; at++) found.push(...marks.slice(at, at + 1));
    return found;
  };
}

/** The letters of a piece that spell those of a mark, and what stands between and beside them in both. */
function markOf(
  text: string,
  { label, ...mark }: Mark,
  { piece, from }: { readonly piece: string; readonly from: number },
): readonly Mark[] {
  let found: Span | undefined;
  let [inText, endInText, startInText] = [from, from, from];
  for (let own = nextLetter(piece, 0); own < piece.length; own = nextLetter(piece, own + widthAt(piece, own))) {
    const at = nextLetter(text, inText);
    inText = at + widthAt(text, at);
    if (at < mark.start || at >= mark.end) continue;
    if (found === undefined) startInText = at;
    endInText = inText;
    found = { start: found?.start ?? own, end: own + widthAt(piece, own) };
  }
  if (found === undefined) return [];
  let { start, end } = found;
  while (startInText > mark.start && start > 0 && piece[start - 1] === text[startInText - 1]) {
    start--;
    startInText--;
  }
  while (endInText < mark.end && end < piece.length && piece[end] === text[endInText]) {
    end++;
    endInText++;
  }
  return trimmed(piece, { start, end, label });
}

/** Spaces at the borders of a piece stay. */
function trimmed(piece: string, { start, end, label }: Mark): readonly Mark[] {
  const part = piece.slice(start, end);
  const inner = part.trim();
  if (inner === '') return [];
  const from = start + part.length - part.trimStart().length;
  return [{ start: from, end: from + inner.length, label }];
}

function spelledFrom(text: string, from: number, piece: string): Span | undefined {
  let [start, end] = [from, from];
  for (let own = nextLetter(piece, 0); own < piece.length; own = nextLetter(piece, own + widthAt(piece, own))) {
    const at = nextLetter(text, end);
    if (!isSameLetter(text, at, piece, own)) return undefined;
    if (end === from) start = at;
    end = at + widthAt(text, at);
  }
  return { start, end };
}

function spelledUpTo(text: string, upTo: number, piece: string): Span | undefined {
  let [start, end] = [upTo, upTo];
  for (let own = lastLetter(piece, piece.length); own >= 0; own = lastLetter(piece, own)) {
    const at = lastLetter(text, start);
    if (at < 0 || !isSameLetter(text, at, piece, own)) return undefined;
    if (start === upTo) end = at + widthAt(text, at);
    start = at;
  }
  return { start, end };
}

function isSameLetter(text: string, at: number, piece: string, own: number): boolean {
  const [one, other] = [text.codePointAt(at), piece.codePointAt(own)];
  if (one === undefined || other === undefined) return false;
  return one === other || String.fromCodePoint(one).toLowerCase() === String.fromCodePoint(other).toLowerCase();
}

const LETTER = /[\p{L}\p{N}\p{M}]/u;
const ASCII_END = 0x80;
const LETTER_OF_ASCII = Array.from({ length: ASCII_END }, (_, code) => LETTER.test(String.fromCodePoint(code)));

function isLetter(codePoint: number): boolean {
  return codePoint < ASCII_END ? LETTER_OF_ASCII[codePoint] === true : LETTER.test(String.fromCodePoint(codePoint));
}

/** The place of the first letter or digit from there on; the length of the text where there is none. */
function nextLetter(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += widthAt(text, at)) if (isLetter(text.codePointAt(at) ?? 0)) break;
  return at;
}

/** The place of the last letter or digit before there; negative where there is none. */
function lastLetter(text: string, before: number): number {
  let at = before;
  while (at > 0) {
    at--;
    const isLowHalf = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
    if (isLowHalf && at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff) at--;
    if (isLetter(text.codePointAt(at) ?? 0)) return at;
  }
  return -1;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
