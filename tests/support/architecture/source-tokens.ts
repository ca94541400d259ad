/** A piece of a source file that rules look at. Comments, regular expressions and template text are left out. */
export interface Token {
  readonly kind: 'word' | 'string' | 'sign';
  /** Of a string: its content, escapes as written. */
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

type OnPiece = (text: string, line: number) => void;

/** Words after which a `/` opens a regular expression rather than divides. */
const BEFORE_REGEX: ReadonlySet<string> = new Set(
  'return typeof case in of do else void delete throw new await yield instanceof'.split(' '),
);

/**
 * Cuts TypeScript into words, strings and signs. Not a parser: just enough that an import in a comment, a string or a
 * template is not taken for one.
 * @param onPattern gets each regular expression, with its slashes and flags
 * @param onComment gets each comment, with its delimiters
 * @param onTemplate gets each stretch of a template's text, escapes as written
 */
export function readTokens(
  source: string,
  onPattern: OnPiece = () => undefined,
  onComment: OnPiece = () => undefined,
  onTemplate: OnPiece = () => undefined,
): readonly Token[] {
  const tokens: Token[] = [];
  /** Open braces; true where the brace belongs to `${` of a template. */
  const braces: boolean[] = [];
  let line = 1;
  let at = 0;

  const push = (kind: Token['kind'], text: string): void => {
    tokens.push({ kind, text, line });
  };
  const skipTo = (end: number): void => {
    for (; at < end; at++) if (source[at] === '\n') line++;
  };
  const comment = (end: number): void => {
    onComment(source.slice(at, end), line);
    skipTo(end);
  };
  const template = (): void => {
    // After the opening backquote, or after the brace that closed `${`.
    let end = at;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end))
      end += source[end] === '\\' ? 2 : 1;
    if (end > at) onTemplate(source.slice(at, end), line);
    if (source[end] === '$') {
      braces.push(true);
      skipTo(end + 2);
    } else skipTo(end + 1);
  };

  while (at < source.length) {
    const sign = source[at] ?? '';
    if (source.startsWith('//', at)) comment(indexOrEnd(source, '\n', at));
    else if (source.startsWith('/*', at)) comment(indexOrEnd(source, '*/', at + 2) + 2);
    else if (sign === "'" || sign === '"') {
      const end = endOfString(source, at);
      push('string', source.slice(at + 1, end - 1));
      skipTo(end);
    } else if (sign === '`') {
      skipTo(at + 1);
      template();
    } else if (sign === '/' && opensRegex(tokens.at(-1))) {
      const end = endOfRegex(source, at);
      onPattern(source.slice(at, end) + (/^[a-z]*/.exec(source.slice(end, end + 8))?.[0] ?? ''), line);
      skipTo(end);
    } else if (/[A-Za-z0-9_$]/.test(sign)) {
      const end = at + (/^[A-Za-z0-9_$]+/.exec(source.slice(at, at + 200))?.[0].length ?? 1);
      push('word', source.slice(at, end));
      skipTo(end);
    } else {
      if (sign === '{') braces.push(false);
      const closesTemplate = sign === '}' && braces.pop() === true;
      if (!/\s/.test(sign)) push('sign', sign);
      skipTo(at + 1);
      if (closesTemplate) template();
    }
  }
  return tokens;
}

function indexOrEnd(source: string, what: string, from: number): number {
  const index = source.indexOf(what, from);
  return index < 0 ? source.length : index;
}

function endOfString(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== source[start]) at += source[at] === '\\' ? 2 : 1;
  return at + 1;
}

function opensRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word') return BEFORE_REGEX.has(before.text);
  return before.kind === 'sign' && before.text !== ')' && before.text !== ']' && before.text !== '}';
}

function endOfRegex(source: string, start: number): number {
  let inClass = false;
  for (let at = start + 1; at < source.length; at++) {
    const sign = source[at];
    if (sign === '\\') at++;
    else if (sign === '[') inClass = true;
    else if (sign === ']') inClass = false;
    else if (sign === '/' && !inClass) return at + 1;
    else if (sign === '\n') return at;
  }
  return source.length;
}
