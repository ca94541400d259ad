const PATTERN_CHARS_MAX = 1_000;
const TEXT_CHARS_MAX = 1_000;
const NESTING_MAX = 32;
const REPEAT_MAX = 256;
/** Tried in this order where a class only says what it is not. */
const ORDINARY = ['a', '0', 'A', '_', '-', ' ', '.', 'x', '1', 'z', '9', 'Z'];

/**
 * A short text that a regular expression accepts, for the subset that JSON schemas use: literals, `.`, classes,
 * `\d \w \s \uXXXX \p{...}`, groups, alternatives (the first is taken), `? * + {n,m}`. Anchors, word boundaries and
 * look-around add nothing. The expression is only read, never run: it comes from a caller.
 * @param charsMin stretches the first part that may repeat until the text is so long
 */
export function textOfPattern(pattern: string, charsMin: number): string {
  const source = pattern.slice(0, PATTERN_CHARS_MAX);
  const short = new PatternReader(source, 0).readAll();
  const missing = Math.min(charsMin, TEXT_CHARS_MAX) - short.length;
  return missing <= 0 ? short : new PatternReader(source, missing).readAll();
}

/** Reads one expression from left to right, writing the text as it goes. */
class PatternReader {
  readonly #source: string;
  #at = 0;
  #stretch: number;

  constructor(source: string, stretch: number) {
    this.#source = source;
    this.#stretch = stretch;
  }

  readAll(): string {
    return this.#readAlternatives(0).slice(0, TEXT_CHARS_MAX);
  }

  /** Until the closing parenthesis or the end; only the first alternative counts. */
  #readAlternatives(depth: number): string {
    const first = this.#readSequence(depth);
    while (this.#peek() === '|') {
      this.#at++;
      const stretch = this.#stretch;
      this.#readSequence(depth);
      this.#stretch = stretch;
    }
    return first;
  }

  #readSequence(depth: number): string {
    let text = '';
    while (this.#at < this.#source.length && this.#peek() !== '|' && this.#peek() !== ')') {
      const atom = this.#readAtom(depth);
      const count = this.#readQuantifier(atom);
      if (text.length < TEXT_CHARS_MAX) text += atom.repeat(Math.min(count, TEXT_CHARS_MAX));
    }
    return text;
  }

  #readAtom(depth: number): string {
    const char = this.#next();
    if (char === '(') return this.#readGroup(depth);
    if (char === '[') return this.#readClass();
    if (char === '\\') return textOfEscape(this.#readEscape());
    if (char === '^' || char === '$') return '';
    return char === '.' ? 'a' : char;
  }

  #readGroup(depth: number): string {
    const lookaround = /^\?<?[=!]/.exec(this.#source.slice(this.#at, this.#at + 3)) !== null;
    const prefix = /^\?(?::|<?[=!]|<[^>]*>)/.exec(this.#source.slice(this.#at));
    this.#at += prefix?.[0].length ?? 0;
    const stretch = this.#stretch;
    const text = depth >= NESTING_MAX ? '' : this.#readAlternatives(depth + 1);
    if (this.#peek() === ')') this.#at++;
    if (!lookaround) return text;
    this.#stretch = stretch;
    return '';
  }

  /** The first member of a class, or for a negated one the first ordinary character that is not a member. */
  #readClass(): string {
    const negated = this.#peek() === '^';
    if (negated) this.#at++;
    const ranges: (readonly [number, number])[] = [];
    while (this.#at < this.#source.length && this.#peek() !== ']') {
      const low = this.#readClassMember();
      const isRange = this.#peek() === '-' && this.#source[this.#at + 1] !== ']';
      if (isRange) this.#at++;
      const high = isRange ? this.#readClassMember() : low;
      ranges.push([low.codePointAt(0) ?? 97, high.codePointAt(0) ?? 97]);
    }
    this.#at++;
    const [first] = ranges;
    if (!negated) return first === undefined ? 'a' : String.fromCodePoint(first[0]);
    const isMember = (char: string): boolean =>
      ranges.some(([low, high]) => char.charCodeAt(0) >= low && char.charCodeAt(0) <= high);
    return ORDINARY.find((char) => !isMember(char)) ?? '~';
  }

  #readClassMember(): string {
    const char = this.#next();
    return char === '\\' ? textOfEscape(this.#readEscape()) || '\b' : char;
  }

  /** What stands behind the backslash, `\u` and `\p` with what belongs to them. */
  #readEscape(): string {
    const kind = this.#next();
    const rest = this.#source.slice(this.#at, this.#at + 40);
    const tail = ESCAPE_TAILS[kind]?.exec(rest)?.[0] ?? '';
    this.#at += tail.length;
    return kind + tail;
  }

  /** How often the atom before is wanted: as rarely as allowed, but for the stretch. */
  #readQuantifier(atom: string): number {
    const quantifier = /^(?:[?*+]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(this.#source.slice(this.#at, this.#at + 24));
    if (quantifier === null) return 1;
    this.#at += quantifier[0].length;
    const [low, high] = boundsOf(quantifier);
    const more = atom === '' ? 0 : Math.min(Math.ceil(this.#stretch / atom.length), high - low);
    this.#stretch -= more * atom.length;
    return Math.min(low, REPEAT_MAX) + more;
  }

  #peek(): string | undefined {
    return this.#source[this.#at];
  }

  #next(): string {
    const char = String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 97);
    this.#at += char.length;
    return char;
  }
}

const ESCAPE_TAILS: Readonly<Record<string, RegExp>> = {
  u: /^(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,6}\})/,
  x: /^[0-9a-fA-F]{2}/,
  p: /^\{[^}]*\}/,
  P: /^\{[^}]*\}/,
};

function boundsOf(quantifier: RegExpExecArray): readonly [low: number, high: number] {
  const [all, low, comma, high] = quantifier;
  if (all.startsWith('?')) return [0, 1];
  if (all.startsWith('*')) return [0, TEXT_CHARS_MAX];
  if (all.startsWith('+')) return [1, TEXT_CHARS_MAX];
  const least = Number(low);
  if (comma === undefined) return [least, least];
  return [least, high === undefined || high === '' ? TEXT_CHARS_MAX : Math.max(least, Number(high))];
}

function textOfEscape(escape: string): string {
  switch (escape.charAt(0)) {
    case 'd':
      return '0';
    case 'w':
    case 'D':
    case 'S':
      return 'a';
    case 'W':
      return '-';
    case 's':
      return ' ';
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case 'b':
    case 'B':
      return '';
    case 'p':
      return textOfCategory(escape);
    case 'P':
      return '-';
    case 'u':
    case 'x':
      return textOfCodePoint(escape);
    default:
      return escape;
  }
}

function textOfCategory(escape: string): string {
  if (escape.startsWith('p{N')) return '0';
  return escape.startsWith('p{Lu') ? 'A' : 'a';
}

function textOfCodePoint(escape: string): string {
  const code = Number.parseInt(escape.replace(/[^0-9a-fA-F]/g, ''), 16);
  return code >= 0 && code <= 0x10ffff ? String.fromCodePoint(code) : escape;
}
