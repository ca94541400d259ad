/** A delta of text, thinking or tool input, and nothing else worth keeping. */
export interface PlainDelta {
  readonly kind: 'text' | 'thinking' | 'tool';
  readonly wireIndex: number;
  readonly text: string;
}

const HEAD = '{"type":"content_block_delta","index":';
const TEXT = ',"delta":{"type":"text_delta","text":"';
const THINKING = ',"delta":{"type":"thinking_delta","thinking":"';
const INPUT = ',"delta":{"type":"input_json_delta","partial_json":"';

/** What JSON wants escaped. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const NOT_PLAIN = /[\\\u0000-\u001f]/;
const QUOTE = 34;
const BACKSLASH = 92;
const BRACE = 125;
const SPACE = 32;
const ZERO = 48;
const INDEX_DIGITS_MAX = 6;

/**
 * Reads the one shape that most events have, without parsing them: a JSON parser costs more than all the rest of their
 * way. `undefined` for every other shape, spelling or order of members, and for what is not JSON; the parser decides
 * then. Spaces that the vendor pads its events with may stand between the closing braces.
 */
export function parsePlainDelta(data: string): PlainDelta | undefined {
  // Slices compare by words, `startsWith` by characters.
  if (data.slice(0, HEAD.length) !== HEAD) return undefined;
  let at = HEAD.length;
  let wireIndex = 0;
  for (; at < HEAD.length + INDEX_DIGITS_MAX; at++) {
    const digit = data.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    wireIndex = wireIndex * 10 + digit;
  }
  if (at === HEAD.length || (at > HEAD.length + 1 && data.charCodeAt(HEAD.length) === ZERO)) return undefined;
  if (data.startsWith(TEXT, at)) return parseText(data, 'text', wireIndex, at + TEXT.length);
  if (data.startsWith(THINKING, at)) return parseText(data, 'thinking', wireIndex, at + THINKING.length);
  return data.startsWith(INPUT, at) ? parseText(data, 'tool', wireIndex, at + INPUT.length) : undefined;
}

function parseText(data: string, kind: PlainDelta['kind'], wireIndex: number, from: number): PlainDelta | undefined {
  const quote = data.indexOf('"', from);
  const text = data.slice(from, quote);
  if (quote >= 0 && !NOT_PLAIN.test(text)) return endsAt(data, quote + 1) ? { kind, wireIndex, text } : undefined;
  return parseEscaped(data, kind, wireIndex, from);
}

function parseEscaped(data: string, kind: PlainDelta['kind'], wireIndex: number, from: number): PlainDelta | undefined {
  let to = from;
  for (let code = data.charCodeAt(to); code !== QUOTE; code = data.charCodeAt(++to)) {
    // The end of the data, or a character that JSON wants escaped.
    if (!(code >= SPACE)) return undefined;
    if (code === BACKSLASH) to++;
  }
  if (!endsAt(data, to + 1)) return undefined;
  try {
    const text: unknown = JSON.parse(data.slice(from - 1, to + 1));
    return typeof text === 'string' ? { kind, wireIndex, text } : undefined;
  } catch {
    // Not a legal escape: the parser will fail again.
    return undefined;
  }
}

/** Two closing braces and spaces, and nothing more. */
function endsAt(data: string, from: number): boolean {
  let braces = 0;
  for (let at = from; at < data.length; at++) {
    const code = data.charCodeAt(at);
    if (code === BRACE) braces++;
    else if (code !== SPACE) return false;
  }
  return braces === 2;
}
