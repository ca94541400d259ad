/** These bytes are not the JSON that is looked for. */
export class NotThatJson extends Error {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Deeper than any answer is nested. */
const DEPTH_MAX = 64;

/** Looks at the value that begins there. @returns where it ends; `undefined`: it is skipped */
export type Visit<Name> = (name: Name, at: number) => number | undefined;

/** Where what begins at `at`, or behind spaces, really begins. */
export function skipSpaces(bytes: Uint8Array, at: number): number {
  let index = at;
  for (let byte = bytes[index]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[index])
    index++;
  return index;
}

/** Visits the members of an object in order, without parsing their values. @returns its end @throws NotThatJson */
export function eachMember(bytes: Buffer, at: number, visit: Visit<string>): number {
  let index = open(bytes, at, OPEN_OBJECT);
  if (bytes[index] === CLOSE_OBJECT) return index + 1;
  for (;;) {
    const nameEnd = endOfString(bytes, index);
    const name = textAt(bytes, index, nameEnd);
    index = skipSpaces(bytes, nameEnd);
    if (bytes[index] !== COLON) throw new NotThatJson();
    index = skipSpaces(bytes, index + 1);
    index = skipSpaces(bytes, visit(name, index) ?? endOfValue(bytes, index));
    if (bytes[index] === CLOSE_OBJECT) return index + 1;
    if (bytes[index] !== COMMA) throw new NotThatJson();
    index = skipSpaces(bytes, index + 1);
  }
}

/** Visits the items of an array in order. @returns its end @throws NotThatJson */
export function eachItem(bytes: Buffer, at: number, visit: Visit<number>): number {
  let index = open(bytes, at, OPEN_ARRAY);
  if (bytes[index] === CLOSE_ARRAY) return index + 1;
  for (let item = 0; ; item++) {
    index = skipSpaces(bytes, visit(item, index) ?? endOfValue(bytes, index));
    if (bytes[index] === CLOSE_ARRAY) return index + 1;
    if (bytes[index] !== COMMA) throw new NotThatJson();
    index = skipSpaces(bytes, index + 1);
  }
}

function open(bytes: Uint8Array, at: number, bracket: number): number {
  if (bytes[at] !== bracket) throw new NotThatJson();
  return skipSpaces(bytes, at + 1);
}

/** Where the string ends that begins at `at`, its quotes included. @throws NotThatJson */
export function endOfString(bytes: Buffer, at: number): number {
  if (bytes[at] !== QUOTE) throw new NotThatJson();
  for (let from = at + 1; ;) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote < 0) throw new NotThatJson();
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    // An even number of backslashes escapes itself, and not the quote.
    if ((quote - before) % 2 === 1) return quote + 1;
    from = quote + 1;
  }
}

/** Where the value ends that begins at `at`. @throws NotThatJson */
export function endOfValue(bytes: Buffer, at: number, depth = 0): number {
  if (depth > DEPTH_MAX) throw new NotThatJson();
  const skip = (_name: unknown, from: number): number => endOfValue(bytes, from, depth + 1);
  const byte = bytes[at];
  if (byte === QUOTE) return endOfString(bytes, at);
  if (byte === OPEN_OBJECT) return eachMember(bytes, at, skip);
  if (byte === OPEN_ARRAY) return eachItem(bytes, at, skip);
  let index = at;
  while (index < bytes.length && isPlain(bytes[index])) index++;
  if (index === at) throw new NotThatJson();
  return index;
}

/** The letters, digits and signs of numbers, `true`, `false` and `null`. */
function isPlain(byte = 0): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x45 ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  );
}

/** The parsed value between two places: of small members. @throws NotThatJson */
export function valueAt(bytes: Buffer, from: number, to: number): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', from, to));
  } catch (cause) {
    throw new NotThatJson('a member is no JSON', { cause });
  }
}

function textAt(bytes: Buffer, from: number, to: number): string {
  const value = valueAt(bytes, from, to);
  if (typeof value !== 'string') throw new NotThatJson();
  return value;
}
