/** A message taken apart: what its writer wants, and what it is to be done with. */
interface Wish {
  /** Both ends where people say what they want, without what they quote. */
  readonly wish: string;
  /** Of the wish, what stands before a colon in its line: where that says what is wanted, the rest is what to do it with. */
  readonly opening?: string;
  /** What was pasted, code and quotations. Empty where all of it is the wish. */
  readonly material: string;
}

/** Of a paragraph that says what is wanted: nobody needs more for it. UTF-16 units. */
const WISH_CHARS_MAX = 900;
/** A last paragraph as short as this may be the question about all that stands above it. */
const LAST_WISH_CHARS_MAX = 240;
/** A quotation as long as this is something to work on, not a name or a title. */
const QUOTE = /"[^"\n]{24,2000}"|“[^”\n]{24,2000}”|«[^»\n]{24,2000}»|„[^“\n]{24,2000}“|「[^」\n]{12,2000}」/g;
/** Behind as much, a line that asks for nothing is rare. */
const LONG_REST_CHARS = 300;
/** The last line of a list asks for nothing. */
const ITEM = /^(?:[-*•]|\d+[.)]) /;
const FENCE = /```[^]*?(?:```|$)/g;
/** Where an instruction ends and what it speaks of begins: an empty line, a colon at the end of a line, a colon before a long text. */
const ENDS = [/\n[ \t\r]*\n/, /[:：]\s*\n/, /\n(?=[^\n]*\n)/];
const INLINE = /[:：]\s(?=[^\n]{60})/;
const OPENING_CHARS_MAX = 160;

/** Pure. */
export function readWish(text: string): Wish {
  let material = '';
  const put = (part: string): string => {
    material += `\n${part}`;
    return ' ';
  };
  const open = text.replaceAll(FENCE, put).trim();
  const at = Math.min(...ENDS.map((end) => end.exec(open)?.index ?? open.length));
  const head = open.slice(0, at);
  const rest = open.slice(at);
  const colon = rest === '' ? (INLINE.exec(head)?.index ?? Infinity) : Infinity;
  const last = rest.slice(rest.lastIndexOf('\n') + 1).trim();
  const isAsked =
    last !== '' &&
    (/[?？]$/.test(last) || rest.length > LONG_REST_CHARS) &&
    !ITEM.test(last) &&
    last.length <= LAST_WISH_CHARS_MAX &&
    rest.length > last.length;
  const wish = `${head.slice(0, WISH_CHARS_MAX)}${isAsked ? `\n${last}` : ''}`.replaceAll(QUOTE, put);
  return {
    wish,
    material: `${head.slice(WISH_CHARS_MAX)}${rest}${material}`,
    ...(colon <= OPENING_CHARS_MAX && { opening: head.slice(0, colon + 1) }),
  };
}
