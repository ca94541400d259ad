/** A message taken apart: what its writer wants, and what it is to be done with. */
interface UserText {
  /** Both ends where people say what they want, without what they quote. */
  readonly userText: string;
  /** The part of the request before a colon in its line: if that states the task, the rest is the material. */
  readonly opening?: string;
  /** Pasted text, code and quotations. Empty if all of it is the request. */
  readonly material: string;
}

/** Length of the paragraph that contains the request. UTF-16 units. */
const USER_TEXT_CHARS_MAX = 900;
/** A last paragraph as short as this may be the question about all that stands above it. */
const LAST_USER_TEXT_CHARS_MAX = 240;
/** A quotation as long as this is something to work on, not a name or a title. */
const QUOTE = /"[^"\n]{24,2000}"|“[^”\n]{24,2000}”|«[^»\n]{24,2000}»|„[^“\n]{24,2000}“|「[^」\n]{12,2000}」/g;
/** After this much text, a line without a request is rare. */
const LONG_REST_CHARS = 300;
/** The last item of a list is not a request. */
const ITEM = /^(?:[-*•]|\d+[.)]) /;
const FENCE = /```[^]*?(?:```|$)/g;
/** Where an instruction ends and what it speaks of begins: an empty line, a colon at the end of a line, a colon before a long text. */
const ENDS = [/\n[ \t\r]*\n/, /[:：]\s*\n/, /\n(?=[^\n]*\n)/];
const INLINE = /[:：]\s(?=[^\n]{60})/;
const OPENING_CHARS_MAX = 160;

/** Pure. */
export function splitUserText(text: string): UserText {
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
  const isRequested =
    last !== '' &&
    (/[?？]$/.test(last) || rest.length > LONG_REST_CHARS) &&
    !ITEM.test(last) &&
    last.length <= LAST_USER_TEXT_CHARS_MAX &&
    rest.length > last.length;
  const userText = `${head.slice(0, USER_TEXT_CHARS_MAX)}${isRequested ? `\n${last}` : ''}`.replaceAll(QUOTE, put);
  return {
    userText,
    material: `${head.slice(USER_TEXT_CHARS_MAX)}${rest}${material}`,
    ...(colon <= OPENING_CHARS_MAX && { opening: head.slice(0, colon + 1) }),
  };
}
