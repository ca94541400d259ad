/** The two halves of a `data:` URL. `data` is base64, unchecked. */
export interface DataUrl {
  readonly mediaType: string;
  readonly data: string;
}

const SCHEME = 'data:';
const ENCODING = ';base64,';
/** RFC 6838 section 4.2: a type and a subtype of at most 127 characters each. */
const MEDIA_TYPE_CHARS_MAX = 255;
const MEDIA_TYPE = /^[A-Za-z0-9][\w!#$&^.+-]*\/[A-Za-z0-9][\w!#$&^.+-]*$/;

/**
 * Splits `data:<type>;base64,<data>`. Any other spelling (parameters, percent-encoding, capitals) gives `undefined` and
 * stays a URL, because putting the halves together again would not give the caller's text back.
 */
export function splitDataUrl(url: string): DataUrl | undefined {
  if (!url.startsWith(SCHEME)) return undefined;
  // Only the head is searched: the data may be megabytes long.
  const head = url.slice(SCHEME.length, SCHEME.length + MEDIA_TYPE_CHARS_MAX + ENCODING.length);
  const end = head.indexOf(ENCODING);
  if (end < 0) return undefined;
  const mediaType = head.slice(0, end);
  if (!MEDIA_TYPE.test(mediaType)) return undefined;
  return { mediaType, data: url.slice(SCHEME.length + end + ENCODING.length) };
}

const HEAD_CHARS_MAX = 512;
const HEAD = /^data:([^;,]*)((?:;[^;,]*)*),/i;
/** RFC 2397: what a URL without a type holds. */
const MEDIA_TYPE_DEFAULT = 'text/plain';

/** What stands before the data. */
export interface DataUrlHead {
  /** Lower case, without parameters. */
  readonly mediaType: string;
  readonly isBase64: boolean;
  /** The data begins behind so many characters. */
  readonly length: number;
}

/** The head of a `data:` URL, however it is spelled; `undefined`: it is none. */
export function dataUrlHead(url: string): DataUrlHead | undefined {
  const [head, type, parameters = ''] = HEAD.exec(url.slice(0, HEAD_CHARS_MAX)) ?? [];
  if (head === undefined) return undefined;
  const mediaType = type?.trim().toLowerCase() || MEDIA_TYPE_DEFAULT;
  return { mediaType, isBase64: /;\s*base64\s*$/i.test(parameters), length: head.length };
}

/** What a `data:` URL holds, however it is spelled; the text itself may not come back from it. */
export function decodeDataUrl(url: string): DataUrl | undefined {
  const head = dataUrlHead(url);
  if (head === undefined) return undefined;
  const rest = url.slice(head.length);
  const data = head.isBase64 ? rest : unescapeToBase64(rest);
  return data === undefined ? undefined : { mediaType: head.mediaType, data };
}

/** Pictures that are text (SVG) are often written so. */
function unescapeToBase64(text: string): string | undefined {
  try {
    return Buffer.from(decodeURIComponent(text), 'utf8').toString('base64');
  } catch {
    // Bytes that are no UTF-8, or a percent sign that escapes nothing: not worth guessing.
    return undefined;
  }
}

/** The inverse of `splitDataUrl`. */
export function makeDataUrl(mediaType: string, data: string): string {
  return `${SCHEME}${mediaType}${ENCODING}${data}`;
}
