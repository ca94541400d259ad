import type { Match, Span } from '../contract.ts';

/** Single letters with one and the same kind of gap between them: `i g n o r e`, `i.g.n.o.r.e`, `i-g-n-o-r-e   a-l-l`. */
const SPACED = /(?<![a-z0-9])[a-z](?:[ \t.\-_*|/,]{1,4}[a-z](?![a-z0-9])){5,}/gi;

interface Run extends Span {
  readonly letters: string;
  /** Where the letters are in the text in which all runs are put together. */
  readonly joined: Span;
}

interface Finders {
  /** What is found in letters that may have lost the spaces between their words. */
  readonly namesOf: (letters: string) => readonly string[];
  readonly findIn: (text: string) => readonly Match[];
}

/** Looks through letters that stand apart, put together again: alone, and with the words around them. */
export function findSpaced(text: string, { namesOf, findIn }: Finders): readonly Match[] {
  const { runs, joined } = join(text);
  if (runs.length === 0) return [];
  const alone = runs.flatMap(({ start, end, letters }) => namesOf(letters).map((pattern) => ({ start, end, pattern })));
  const places = new Set(alone.map(keyOf));
  const together = findIn(joined).flatMap((match) => spreadOut(match, runs) ?? []);
  return [...alone, ...together.filter((match) => !places.has(keyOf(match)))];
}

/** Where a match in the joined text is in the text itself; `undefined`: it touches no letters that stood apart. */
function spreadOut({ start, end, pattern }: Match, runs: readonly Run[]): Match | undefined {
  const from = countWhere(runs, ({ joined }) => joined.end <= start);
  const to = countWhere(runs, ({ joined }) => joined.start < end);
  const [first, last] = [runs[from], runs[to - 1]];
  if (from >= to || first === undefined || last === undefined) return undefined;
  // The runs that it touches belong to it as a whole; each moves what comes after it by the gaps that it lost.
  return {
    start: start < first.joined.start ? start + first.start - first.joined.start : first.start,
    end: end > last.joined.end ? end + last.end - last.joined.end : last.end,
    pattern,
  };
}

/** How many of the first ones are so, where no later one is: there may be a run and a match for every few letters. */
function countWhere(runs: readonly Run[], isSo: (run: Run) => boolean): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const run = runs[middle];
    if (run !== undefined && isSo(run)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keyOf({ start, end, pattern }: Match): string {
  return `${start} ${end} ${pattern}`;
}

function join(text: string): { readonly runs: readonly Run[]; readonly joined: string } {
  const runs: Run[] = [];
  let joined = '';
  let at = 0;
  for (const { 0: spaced, index: start } of text.matchAll(SPACED)) {
    const letters = collapse(spaced);
    joined += text.slice(at, start);
    runs.push({
      start,
      end: start + spaced.length,
      letters,
      joined: { start: joined.length, end: joined.length + letters.length },
    });
    joined += letters;
    at = start + spaced.length;
  }
  return { runs, joined: joined + text.slice(at) };
}

/** A gap that is wider than the others is one between words. */
function collapse(spaced: string): string {
  const gaps = spaced.match(/[^a-z]+/gi) ?? [];
  const narrowest = gaps.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);
  return spaced.replace(/[^a-z]+/gi, (gap) => (gap.length > narrowest ? ' ' : ''));
}
