/** `1e400`, or 309 digits in a row: more than a double holds. May match text that only looks so. */
const MAY_EXCEED = /\d[eE]\+?\d{3}|\d{309}/;

/**
 * Where a parsed JSON text has a number beyond what a double holds, which `JSON.parse` gives as infinite and
 * `JSON.stringify` writes as `null`. Steps from the root, the first such number; `undefined` when there is none.
 */
export function findNotFinite(text: string, value: unknown): readonly (string | number)[] | undefined {
  return MAY_EXCEED.test(text) ? search(value) : undefined;
}

function search(value: unknown): readonly (string | number)[] | undefined {
  if (value === Infinity || value === -Infinity) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  const members: Iterable<readonly [string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [step, member] of members) {
    const below = search(member);
    if (below !== undefined) return [step, ...below];
  }
  return undefined;
}
