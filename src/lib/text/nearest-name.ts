const NAME_CHARS_MAX = 64;
const KNOWN_NAMES_MAX = 512;

/**
 * Finds the known name that a mistyped one most likely means, for "did you mean"; `undefined` when none is near. Near is one
 * edit in three characters, where a swap of two neighbours is one edit. The work is bounded: long names and lists are cut.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > NAME_CHARS_MAX) return undefined;
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let best = Math.max(1, Math.floor(name.length / 3)) + 1;
  let seen = 0;
  for (const candidate of known) {
    if (++seen > KNOWN_NAMES_MAX) break;
    if (Math.abs(candidate.length - name.length) >= best) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), best);
    if (distance < best) [nearest, best] = [candidate, distance];
  }
  return nearest;
}

/** Optimal string alignment: insert, delete, replace, swap neighbours. Stops once the distance cannot be below `bound`. */
function editDistance(left: string, right: string, bound: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    // Every way to the end leads through one of two rows that follow each other, and none gets cheaper.
    if (Math.min(...last, ...current) >= bound) return bound;
    [beforeLast, last] = [last, current];
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
