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
export function readPlainDelta(data: string): PlainDelta | undefined {
  if (!data.startsWith(HEAD)) return undefined;
  let at = HEAD.length;
  let wireIndex = 0;
  for (; at < HEAD.length + INDEX_DIGITS_MAX; at++) {
    const digit = data.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) break;
    wireIndex = wireIndex * 10 + digit;
  }
  if (at === HEAD.length || (at > HEAD.length + 1 && data.charCodeAt(HEAD.length) === ZERO)) return undefined;
  if (data.startsWith(TEXT, at)) return readText(data, 'text', wireIndex, at + TEXT.length);
  if (data.startsWith(THINKING, at)) return readText(data, 'thinking', wireIndex, at + THINKING.length);
  return data.startsWith(INPUT, at) ? readText(data, 'tool', wireIndex, at + INPUT.length) : undefined;
}

function readText(data: string, kind: PlainDelta['kind'], wireIndex: number, from: number): PlainDelta | undefined {
  let to = from;
  let escaped = false;
  for (let code = data.charCodeAt(to); code !== QUOTE; code = data.charCodeAt(++to)) {
    // The end of the data, or a character that JSON wants escaped.
    if (!(code >= SPACE)) return undefined;
    if (code !== BACKSLASH) continue;
    escaped = true;
    to++;
  }
  if (!endsAt(data, to + 1)) return undefined;
  if (!escaped) return { kind, wireIndex, text: data.slice(from, to) };
  try {
    const text: unknown = JSON.parse(data.slice(from - 1, to + 1));
    return typeof text === 'string' ? { kind, wireIndex, text } : undefined;
  } catch {
    // Not a legal escape: the parser will say so again.
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
