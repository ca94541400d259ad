import { DEPTH_MAX } from '../../lib/json/bounds.ts';

/**
 * Where a parsed JSON value has a number beyond what a double holds, such as `1e400`, which `JSON.parse` gives as infinite
 * and `JSON.stringify` writes as `null`. Steps from the root, the first such number; `undefined` when there is none. A value
 * that is nested too deeply is looked at down to that bound.
 */
export function findNotFinite(value: unknown): readonly (string | number)[] | undefined {
  return isFiniteDown(value, 0) ? undefined : search(value, 0);
}

/** Makes no lists of names: this runs for every node of every prompt. */
function isFiniteDown(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (!isNode(value) || depth > DEPTH_MAX) return true;
  if (isArray(value)) {
    for (const item of value) if (!isFiniteDown(item, depth + 1)) return false;
    return true;
  }
  // Parsed JSON inherits nothing enumerable.
  for (const name in value) if (!isFiniteDown(value[name], depth + 1)) return false;
  return true;
}

function search(value: unknown, depth: number): readonly (string | number)[] | undefined {
  if (value === Infinity || value === -Infinity) return [];
  if (!isNode(value) || depth > DEPTH_MAX) return undefined;
  const members: Iterable<readonly [string | number, unknown]> = isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [step, member] of members) {
    const below = search(member, depth + 1);
    if (below !== undefined) return [step, ...below];
  }
  return undefined;
}

type Node = readonly unknown[] | Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function isArray(node: Node): node is readonly unknown[] {
  return Array.isArray(node);
}
