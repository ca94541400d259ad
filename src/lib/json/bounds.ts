/** No schema for a model is deeper, and every later recursive function can handle it. */
export const DEPTH_MAX = 200;
/** A level, and an item or a member, takes at least two characters: no value of a shorter text is out of bounds. */
export const BOUNDED_CHARS_MAX = 2 * DEPTH_MAX;
/**
 * Array items and object members of one body: some 5 MB of ordinary conversation. A schema that refuses each of millions
 * of `1`s would occupy the process for a minute, and gigabytes for its errors.
 */
export const VALUES_MAX = 100_000;
/** Members of one object: far more than any schema has, and few enough for engines that sort numeric names. */
export const MEMBERS_MAX = 10_000;

/** A bound that JSON exceeds, as the end of a sentence, and its place. */
export interface Excess {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export const TOO_DEEP = `must not be nested more than ${DEPTH_MAX} levels deep`;
export const TOO_MANY_VALUES = `must hold at most ${VALUES_MAX} values`;
export const TOO_MANY_MEMBERS = `must have at most ${MEMBERS_MAX} fields`;

const DEEP = Number.NEGATIVE_INFINITY;
const WIDE = -Number.MAX_VALUE;

/** Finds the first bound that a parsed JSON value exceeds; `undefined` when there is none. */
export function findExcess(value: unknown): Excess | undefined {
  if (!isNode(value)) return undefined;
  const left = weigh(value, VALUES_MAX, 1);
  if (left === DEEP) return { path: [], message: TOO_DEEP };
  if (left === WIDE) return { path: findWide(value) ?? [], message: TOO_MANY_MEMBERS };
  return left < 0 ? { path: [], message: TOO_MANY_VALUES } : undefined;
}

/** Whether a parsed JSON value holds more than `max` values, or is out of bounds. Stops there. */
export function holdsMoreValues(value: unknown, max: number): boolean {
  return isNode(value) && weigh(value, max, 1) < 0;
}

type Node = readonly unknown[] | Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** What is left of `budget` after the values below `node`; below 0 once it is spent. */
function weigh(node: Node, budget: number, depth: number): number {
  if (depth > DEPTH_MAX) return DEEP;
  let left = budget;
  if (isArray(node)) {
    left -= node.length;
    for (let index = 0; index < node.length && left >= 0; index++) {
      const item = node[index];
      if (isNode(item)) left = weigh(item, left, depth + 1);
    }
    return left;
  }
  let members = 0;
  // Parsed JSON inherits nothing enumerable, and `for in` makes no list of what may be many names.
  for (const name in node) {
    if (++members > MEMBERS_MAX) return WIDE;
    if (--left < 0) return left;
    const member = node[name];
    if (isNode(member)) left = weigh(member, left, depth + 1);
  }
  return left;
}

/** Where the first object with too many members is. */
function findWide(node: Node): Excess['path'] | undefined {
  const members: readonly (readonly [string | number, unknown])[] = isArray(node)
    ? [...node.entries()]
    : Object.entries(node);
  if (!isArray(node) && members.length > MEMBERS_MAX) return [];
  for (const [step, member] of members) {
    const below = isNode(member) ? findWide(member) : undefined;
    if (below !== undefined) return [step, ...below];
  }
  return undefined;
}

function isArray(node: Node): node is readonly unknown[] {
  return Array.isArray(node);
}
