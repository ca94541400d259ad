/** Quotes, brackets and ends of sentences around an answer. */
const AROUND = /^[\p{P}\p{S}\s]+|[\p{P}\p{S}\s]+$/gu;

/** Case, spacing, and marks around the text make no difference. */
export function normalize(text: string): string {
  const plain = text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
  const bare = plain.replaceAll(AROUND, '');
  // "+" or "?!" is an answer, too.
  return bare === '' ? plain : bare;
}

const NUMBER = /[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|[-+]?\.\d+/gi;
/** What a double cannot tell apart. */
const ROUNDING = 1e-9;

/** The last number of a text: models reckon first, and say the result in the end. */
export function lastNumber(text: string): number | undefined {
  const last = text.match(NUMBER)?.at(-1);
  return last === undefined ? undefined : Number(last.replaceAll(',', ''));
}

export function isNear(value: number, expected: number, tolerance: number): boolean {
  return Math.abs(value - expected) <= tolerance + ROUNDING * Math.max(1, Math.abs(expected));
}

/** The label that a text chooses; `undefined`: none, or several. */
export function chosenLabel(text: string, labels: readonly string[]): string | undefined {
  const plain = normalize(text);
  const whole = labels.find((label) => normalize(label) === plain);
  if (whole !== undefined) return whole;
  const alone = labels.map((label) => RegExp.escape(label)).join('|');
  const said = lastMatch(text, new RegExp(`answer(?:\\s+is)?\\s*:?\\s*[*(\\["']*(${alone})(?![\\p{L}\\p{N}])`, 'giu'));
  const first = new RegExp(`^\\s*[*(\\["']*(${alone})["'\\]]*[).:*]`, 'iu').exec(text)?.[1];
  const named = said ?? first;
  if (named !== undefined) return labels.find((label) => label.toLowerCase() === named.toLowerCase());
  // As they are written: "a" is a word.
  const found = labels.filter((label) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(label)}(?![\\p{L}\\p{N}])`, 'u').test(text),
  );
  return found.length === 1 ? found[0] : undefined;
}

function lastMatch(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}
