import type { Span, TextView, Writing } from './contract.ts';
import { foldCharacter, isInvisible, MAY_BE_INVISIBLE } from './look-alikes.ts';

export function createTextView(text: string): TextView {
  const itself: Writing = { text, back: (span) => span };
  let visible: Writing | undefined;
  let folded: Writing | undefined;
  return {
    ...itself,
    get visible() {
      return (visible ??= MAY_BE_INVISIBLE.test(text)
        ? rewrite(text, (character, code) => (isInvisible(code) ? '' : character))
        : itself);
    },
    get folded() {
      return (folded ??= NOT_ASCII.test(text) ? rewrite(text, foldCharacter) : itself);
    },
  };
}

const NOT_ASCII = /[^\0-\x7f]/;

/** @param change what stands for a character, which is longer than it never */
function rewrite(text: string, change: (character: string, code: number) => string): Writing {
  const from = new Uint32Array(text.length + 1);
  const pieces: string[] = [];
  let length = 0;
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    const units = code > 0xffff ? 2 : 1;
    const piece = code < 0x80 ? (text[at] ?? '') : change(text.slice(at, at + units), code);
    for (let unit = 0; unit < piece.length; unit++) from[length + unit] = at;
    pieces.push(piece);
    length += piece.length;
    at += units;
  }
  from[length] = text.length;
  return {
    text: pieces.join(''),
    back: ({ start, end }: Span) => ({
      start: from[start] ?? 0,
      end: end === length ? text.length : endOf(text, from[end - 1] ?? 0),
    }),
  };
}

/** Behind the character that begins there. */
function endOf(text: string, start: number): number {
  return start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
}
