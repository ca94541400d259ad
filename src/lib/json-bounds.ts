/** Deeper than any schema that a model reads, and shallow enough for every recursive function after this one. */
export const DEPTH_MAX = 200;
/**
 * Array items and object members of one body: some 14 MB of ordinary conversation. A schema that refuses each of millions
 * of `1`s would keep the process busy for a minute and take gigabytes to say so.
 */
export const VALUES_MAX = 250_000;

const TOO_DEEP = Number.NEGATIVE_INFINITY;

/** What is out of bounds in a parsed JSON value, as the end of a sentence; `undefined` when nothing is. */
export function findExcess(value: unknown): string | undefined {
  const left = isNode(value) ? weigh(value, VALUES_MAX, 1) : VALUES_MAX;
  if (left === TOO_DEEP) return `must not be nested more than ${DEPTH_MAX} levels deep`;
  return left < 0 ? `must hold at most ${VALUES_MAX} values` : undefined;
}

type Node = readonly unknown[] | Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** What is left of `budget` after the values below `node`; below 0 once it is spent. */
function weigh(node: Node, budget: number, depth: number): number {
  if (depth > DEPTH_MAX) return TOO_DEEP;
  let left = budget;
  if (isArray(node)) {
    left -= node.length;
    for (let index = 0; index < node.length && left >= 0; index++) {
      const item = node[index];
      if (isNode(item)) left = weigh(item, left, depth + 1);
    }
    return left;
  }
  // Parsed JSON inherits nothing enumerable, and `for in` makes no list of what may be millions of names.
  for (const name in node) {
    if (--left < 0) return left;
    const member = node[name];
    if (isNode(member)) left = weigh(member, left, depth + 1);
  }
  return left;
}

function isArray(node: Node): node is readonly unknown[] {
  return Array.isArray(node);
}
