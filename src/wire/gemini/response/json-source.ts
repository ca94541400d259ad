const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

type Path = readonly (string | number)[];

/**
 * The very characters of a value inside a JSON text: parsing and writing again would turn `1.0` into `1`, and put members
 * in another order.
 * @param text that has been parsed already, so that its syntax is not in doubt
 * @param path from the outermost value inwards
 * @returns `undefined` when there is no such value
 */
export function sourceOf(text: string, path: Path): string | undefined {
  const range = sourceRange(text, path);
  return range && text.slice(range.start, range.end);
}

/** Where these characters stand. */
export function sourceRange(text: string, path: Path): { readonly start: number; readonly end: number } | undefined {
  let at = skipBlank(text, 0);
  for (const step of path) {
    const found = typeof step === 'number' ? findItem(text, at, step) : findMember(text, at, step);
    if (found === undefined) return undefined;
    at = found;
  }
  return { start: at, end: endOfValue(text, at) };
}

/** The items of a list, each as its source. */
export function itemSources(text: string): readonly string[] {
  const items: string[] = [];
  const start = skipBlank(text, 0);
  for (let at = firstItem(text, start); at !== undefined;) {
    const end = endOfValue(text, at);
    items.push(text.slice(at, end));
    at = nextItem(text, end);
  }
  return items;
}

function findItem(text: string, start: number, index: number): number | undefined {
  let at = firstItem(text, start);
  for (let left = index; at !== undefined && left > 0; left--) at = nextItem(text, endOfValue(text, at));
  return at;
}

function firstItem(text: string, start: number): number | undefined {
  if (text.charCodeAt(start) !== OPEN_LIST) return undefined;
  const at = skipBlank(text, start + 1);
  return text.charCodeAt(at) === CLOSE_LIST ? undefined : at;
}

function nextItem(text: string, end: number): number | undefined {
  const at = skipBlank(text, end);
  return text.charCodeAt(at) === COMMA ? skipBlank(text, at + 1) : undefined;
}

/** Where the value of a member begins; of several with one name the last counts, as it does for a parser. */
function findMember(text: string, start: number, name: string): number | undefined {
  if (text.charCodeAt(start) !== OPEN_OBJECT) return undefined;
  let found: number | undefined;
  let at = skipBlank(text, start + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfString(text, at);
    const colon = skipBlank(text, nameEnd);
    if (text.charCodeAt(colon) !== COLON) return undefined;
    const value = skipBlank(text, colon + 1);
    if (isName(text.slice(at, nameEnd), name)) found = value;
    const after = skipBlank(text, endOfValue(text, value));
    if (text.charCodeAt(after) !== COMMA) break;
    at = skipBlank(text, after + 1);
  }
  return found;
}

function isName(quoted: string, name: string): boolean {
  if (!quoted.includes('\\')) return quoted.length === name.length + 2 && quoted.startsWith(name, 1);
  const parsed: unknown = JSON.parse(quoted);
  return parsed === name;
}

/** One past the value that begins here. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      // A number, or a word, ends before the bracket around it.
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || isBlank(code))) return at;
  }
  return text.length;
}

/** One past the closing quote of the string that begins here. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

/** Space, tab, line feed, carriage return: all that JSON knows. */
function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

/**
 * Joins a source of several lines into one, without the blanks between its tokens. No string holds an unescaped line end,
 * so a source without line ends is on one line already and stays as it is.
 */
export function onOneLine(source: string): string {
  if (!/[\n\r]/.test(source)) return source;
  const pieces: string[] = [];
  for (let at = 0; at < source.length;) {
    const code = source.charCodeAt(at);
    if (isBlank(code)) {
      at++;
      continue;
    }
    const end = code === QUOTE ? endOfString(source, at) : endOfToken(source, at);
    pieces.push(source.slice(at, end));
    at = end;
  }
  return pieces.join('');
}

/** One past the characters that are neither blank nor the beginning of a string. */
function endOfToken(source: string, start: number): number {
  let at = start;
  while (at < source.length && !isBlank(source.charCodeAt(at)) && source.charCodeAt(at) !== QUOTE) at++;
  return at;
}
