import { randomUUID } from 'node:crypto';
import { BOUNDED_CHARS_MAX, findExcess } from './json/bounds.ts';
import { findStringEnd, findTextExcess, isScanned } from './json/scan-text.ts';

/** A JSON value as `JSON.parse` gives it, or as `parseKeepingNumbers` does. */
export type Json = string | number | boolean | null | ExactNumber | readonly Json[] | JsonObject;

/** A JSON object. Members are read-only: a change makes a new object. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

/**
 * A number that a double would change, as it was written. It can be serialized again, and nothing else. A class, because
 * `instanceof` is the cheapest way to distinguish it from an object: `isJsonObject` tests every node of every prompt.
 */
export class ExactNumber {
  readonly text: string;

  /** @param text a JSON number */
  constructor(text: string) {
    this.text = text;
  }

  /** Called by `JSON.stringify`. @source TC39 "JSON.parse source text access", in V8 since 11.4 */
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/**
 * Parses JSON text; `undefined` when it is not JSON, or nested so deeply or so wide that writing it again could fail
 * (bounds.ts). Never throws.
 */
export function parseJson(text: string): Json | undefined {
  try {
    if (findTextExcess(text) !== undefined) return undefined;
    const value: Json = JSON.parse(text);
    // Long ones have been scanned.
    const isUnknown = text.length > BOUNDED_CHARS_MAX && !isScanned(text);
    return isUnknown && findExcess(value) !== undefined ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Parses JSON text; `undefined` when it is not a JSON object. Never throws. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

// A number that `JSON.parse` and back does not return as written: 1.0, 1e3, -0, 0.0000001; those of 16 digits and more are
// `hasLongNumbers`. None of it begins at each digit of a row, or else a body of digits would take seconds.
const FRAGILE_NUMBER = /\d\.\d*0(?!\d)|\d[eE][-+\d]|-0(?![.\d])|0\.0{6}/;

/**
 * Whether plain `JSON.parse` may lose how a number in this text was written (`1.0` becomes `1`,
 * `12345678901234567890` becomes `12345678901234567000`). May be true for text that only looks like it.
 */
export function hasFragileNumbers(text: string): boolean {
  return hasLongNumbers(text) || FRAGILE_NUMBER.test(text);
}

/** Every number of so many decimal digits comes back from a double as it was. */
const DIGITS_SAFE = 15;
const POINT = 46;
const ZERO = 48;
const NINE = 57;

/**
 * Whether the text holds a number of 16 digits or more, which a double may not keep. May be true for text that only looks
 * like it. A run of 16 covers every 16th place, so that only those are examined: 12 us for 50 kB, where parsing takes 20.
 */
export function hasLongNumbers(text: string): boolean {
  for (let at = DIGITS_SAFE; at < text.length; at += DIGITS_SAFE + 1)
    if (isInNumber(text, at) && countDigits(text, at) > DIGITS_SAFE) return true;
  return false;
}

/** May be. A point that is no end of a sentence stands between two digits. */
function isInNumber(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== POINT) return isDigit(code);
  return isDigit(text.charCodeAt(at - 1)) && isDigit(text.charCodeAt(at + 1));
}

/** Counts the digits of the number around `at`, up to a bound: a text may be one run of digits and points. */
function countDigits(text: string, at: number): number {
  let digits = 0;
  let points = 0;
  // One more than the digits: a number has a point in it, too, but no second one.
  const reach = DIGITS_SAFE + 1;
  for (let left = at; left >= at - reach && isDigitOrPoint(text.charCodeAt(left)); left--)
    if (text.charCodeAt(left) !== POINT) digits++;
    else if (++points > 1) break;
  for (let right = at + 1; right <= at + reach && isDigitOrPoint(text.charCodeAt(right)); right++)
    if (text.charCodeAt(right) !== POINT) digits++;
    else if (++points > 1) break;
  return digits;
}

/** False before the beginning and after the end of the text. */
function isDigitOrPoint(code: number): boolean {
  return isDigit(code) || code === POINT;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

interface ReviverContext {
  readonly source?: string;
}
type SourceReviver = (key: string, value: Json, context?: ReviverContext) => Json;

declare global {
  interface JSON {
    /** @source TC39 "JSON.parse source text access"; not yet in TypeScript's own library */
    rawJSON(text: string): unknown;
  }
}

/** The prefix of strings that stand for numbers during parsing. It is random, so that no input can contain it. */
const MARK = `number ${randomUUID()} `;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const QUOTE = 34;
const MINUS = 45;

/**
 * Parses JSON so that `JSON.stringify` writes every number as it stood: each that would change is an `ExactNumber`. About
 * three times slower than `JSON.parse`; a reviver, which sees the source of numbers too, is ten times slower.
 * @throws SyntaxError as `JSON.parse`
 */
export function parseKeepingNumbers(text: string): Json {
  const plain: Json = JSON.parse(text);
  const marked = markNumbers(text);
  if (marked === undefined) return plain;
  const value: MutableJson = JSON.parse(marked);
  return restoreNumbers(value);
}

/** The text with a string in the place of each number that a double would change; `undefined` when there is none. */
function markNumbers(text: string): string | undefined {
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if ((code >= ZERO && code <= NINE) || code === MINUS) {
      const end = findNumberEnd(text, at);
      const number = text.slice(at, end);
      if (NUMBER.test(number) && String(Number(number)) !== number) {
        pieces.push(text.slice(copied, at), `"${MARK}${number}"`);
        copied = end;
      }
      at = end - 1;
    }
  }
  return pieces.length === 0 ? undefined : pieces.join('') + text.slice(copied);
}

function findNumberEnd(text: string, start: number): number {
  let end = start + 1;
  while (isNumberPart(text.charCodeAt(end))) end++;
  return end;
}

const PLUS = 43;
const UPPER_E = 69;
const LOWER_E = 101;

/** False after the end. */
function isNumberPart(code: number): boolean {
  return isDigitOrPoint(code) || code === PLUS || code === MINUS || code === UPPER_E || code === LOWER_E;
}

type MutableJson = string | number | boolean | null | ExactNumber | MutableJson[] | { [member: string]: MutableJson };

/** Changes the value in place: it was just parsed. */
function restoreNumbers(value: MutableJson): MutableJson {
  if (typeof value === 'string') return value.startsWith(MARK) ? new ExactNumber(value.slice(MARK.length)) : value;
  if (Array.isArray(value))
    for (let index = 0; index < value.length; index++) value[index] = restoreNumbers(value[index]!);
  else if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    for (const [name, member] of Object.entries(value)) value[name] = restoreNumbers(member);
  return value;
}

/** What `parseKeepingNumbers` revives values with, for what is more than JSON: its types are the reader's affair. */
export const keepNumber: SourceReviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? new ExactNumber(context.source)
    : value;
