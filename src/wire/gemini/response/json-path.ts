/** A member's name or a place in a list. */
export type PathStep = string | number;

const STEPS_MAX = 100;
/** An index of more digits is no place in a list. */
const INDEX_DIGITS_MAX = 6;

const SHORTHAND = /\.([^.[\]]+)/y;
const INDEX = /\[(\d+)\]/y;
const QUOTED = /\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y;

/**
 * The steps of a path to one value, as RFC 9535 writes it: `$.a.b[0]`, `$['a b']`. `undefined` for anything that names no
 * single value, or too many steps.
 */
export function parseJsonPath(path: string): readonly PathStep[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: PathStep[] = [];
  for (let at = 1; at < path.length;) {
    const read = parseStep(path, at);
    if (read === undefined || steps.length >= STEPS_MAX) return undefined;
    steps.push(read.step);
    at = read.end;
  }
  return steps;
}

function parseStep(path: string, at: number): { readonly step: PathStep; readonly end: number } | undefined {
  const shorthand = match(SHORTHAND, path, at);
  if (shorthand?.[1] !== undefined) return { step: shorthand[1], end: at + shorthand[0].length };
  const index = match(INDEX, path, at);
  if (index?.[1] !== undefined)
    return index[1].length > INDEX_DIGITS_MAX ? undefined : { step: Number(index[1]), end: at + index[0].length };
  const quoted = match(QUOTED, path, at);
  if (quoted === null) return undefined;
  return { step: unescape(quoted[1] ?? quoted[2] ?? ''), end: at + quoted[0].length };
}

function match(pattern: RegExp, path: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(path);
}

/** The escapes of JSON, and of either quote. */
function unescape(text: string): string {
  if (!text.includes('\\')) return text;
  try {
    const parsed: unknown = JSON.parse(`"${text.replaceAll("\\'", "'").replaceAll(/(?<!\\)"/g, '\\"')}"`);
    return typeof parsed === 'string' ? parsed : text;
  } catch {
    return text;
  }
}
