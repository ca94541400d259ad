/** `1e400`: more than a double holds. May match text that only looks so. */
const MAY_EXCEED = /\d[eE]\+?\d{3}/;
/** So many digits in a row are more than a double holds, too. */
const DIGITS_MAX = 308;

/**
 * Where a parsed JSON text has a number beyond what a double holds, which `JSON.parse` gives as infinite and
 * `JSON.stringify` writes as `null`. Steps from the root, the first such number; `undefined` when there is none.
 */
export function findNotFinite(text: string, value: unknown): readonly (string | number)[] | undefined {
  return hasDigitRun(text, DIGITS_MAX + 1) || MAY_EXCEED.test(text) ? search(value) : undefined;
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

const ZERO = 48;
const NINE = 57;

/**
 * Whether a text holds so many digits in a row. What is no digit rules out every row around it, so most of a text is never
 * looked at, and no digit more than twice; a regular expression counts from each digit of a body that may be digits alone.
 */
export function hasDigitRun(text: string, least: number): boolean {
  for (let at = least - 1; at < text.length;) {
    let left = at;
    while (left > at - least && isDigit(text.charCodeAt(left))) left--;
    if (at - left === least) return true;
    at = left + least;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
