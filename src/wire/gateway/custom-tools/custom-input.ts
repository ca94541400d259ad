import { isJsonObject, parseJson } from '../../../lib/json.ts';

/** How the arguments of the function that stands for a custom tool begin. Long runs of blanks are left to the end. */
const BEGIN = /^\s{0,8}\{\s{0,8}"input"\s{0,8}:\s{0,8}"/;
/** What has not begun so after as many characters never will. */
const BEGIN_CHARS_MAX = 48;
const UNICODE_ESCAPE = /^\\u([0-9a-fA-F]{4})$/;
const UNICODE_ESCAPE_CHARS = 6;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Arguments of the function that stands for a custom tool, from the tool's input. */
export function wrapCustomInput(input: string): string {
  return JSON.stringify({ input });
}

/** The input of a custom tool, from the arguments of the function that stands for it. A stream of the same gives the same. */
export function unwrapCustomInput(text: string): string {
  const decoder = new CustomInputDecoder();
  const first = decoder.push(text);
  return first + decoder.end();
}

/**
 * Decodes the input of a custom tool while the arguments of its call are still coming. What it gives, joined, is the
 * input: a caller has that text already when the arguments turn out to hold more, or not to be JSON. Arguments of another
 * shape give nothing before their end.
 */
export class CustomInputDecoder {
  /** What is not decoded yet: a beginning that may still fit, an escape that was cut, or arguments of another shape. */
  #held = '';
  #state: 'beginning' | 'text' | 'other' | 'ended' = 'beginning';
  /** Half of a character beyond the first plane, which must not be sent apart from the other. */
  #half = '';

  /** @param delta of the arguments @returns what it adds to the input, often nothing */
  push(delta: string): string {
    if (this.#state === 'ended') return '';
    this.#held += delta;
    if (this.#state === 'beginning') this.#begin();
    return this.#state === 'text' ? this.#decode() : '';
  }

  /** The arguments are complete. @returns what was still owed */
  end(): string {
    const state = this.#state;
    this.#state = 'ended';
    return state === 'beginning' || state === 'other' ? unwrapOther(this.#held) : this.#takeHalf();
  }

  #begin(): void {
    const [head] = BEGIN.exec(this.#held) ?? [];
    if (head !== undefined) {
      this.#held = this.#held.slice(head.length);
      this.#state = 'text';
    } else if (this.#held.length > BEGIN_CHARS_MAX) this.#state = 'other';
  }

  #decode(): string {
    const text = this.#held;
    let decoded = this.#takeHalf();
    let from = 0;
    for (const { 0: mark, index } of text.matchAll(/"|\\u[0-9a-fA-F]{4}|\\./gsu)) {
      decoded += text.slice(from, index);
      from = index + mark.length;
      if (mark === '"') {
        this.#state = 'ended';
        return decoded;
      }
      // Cut inside of its digits, it is not one yet.
      if (mark === '\\u' && text.length - index < UNICODE_ESCAPE_CHARS) {
        from = index;
        break;
      }
      decoded += decodeEscape(mark);
    }
    const rest = text.slice(from);
    const cut = rest.startsWith('\\') ? 0 : rest.endsWith('\\') ? rest.length - 1 : rest.length;
    this.#held = rest.slice(cut);
    return this.#keepHalf(decoded + rest.slice(0, cut));
  }

  #takeHalf(): string {
    const half = this.#half;
    this.#half = '';
    return half;
  }

  #keepHalf(decoded: string): string {
    const last = decoded.charCodeAt(decoded.length - 1);
    const isHalf = last >= 0xd8_00 && last <= 0xdb_ff;
    this.#half = isHalf ? decoded.slice(-1) : '';
    return isHalf ? decoded.slice(0, -1) : decoded;
  }
}

/** What JSON does not know stands as the model wrote it. */
function decodeEscape(escape: string): string {
  const [, digits] = UNICODE_ESCAPE.exec(escape) ?? [];
  if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
  return ESCAPES[escape.slice(1)] ?? escape;
}

function unwrapOther(text: string): string {
  const value = parseJson(text);
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return text;
  const { input } = value;
  if (typeof input === 'string') return input;
  const [only, ...others] = Object.values(value);
  return typeof only === 'string' && others.length === 0 ? only : text;
}
