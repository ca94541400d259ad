import { DEPTH_MAX, findExcess } from './json-bounds.ts';

/** A JSON value as `JSON.parse` gives it, or as `parseKeepingNumbers` does. */
export type Json = string | number | boolean | null | ExactNumber | readonly Json[] | JsonObject;

/** A JSON object. Members are read-only: a change makes a new object. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

/**
 * A number that a double would change, as it was written. Good for writing out again and for nothing else. A class,
 * because `instanceof` is the cheapest way to tell it from an object: `isJsonObject` asks for every node of every prompt.
 */
export class ExactNumber {
  readonly text: string;

  /** @param text a JSON number */
  constructor(text: string) {
    this.text = text;
  }

  /** What `JSON.stringify` asks for. @source TC39 "JSON.parse source text access", in V8 since 11.4 */
  toJSON(): unknown {
    return JSON.rawJSON(this.text);
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/**
 * Parses JSON text; `undefined` when it is not JSON, or nested so deeply or so wide that writing it again could fail
 * (json-bounds.ts). Never throws.
 */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    // A level takes two characters at the least, so most texts cannot be too deep.
    return text.length > 2 * DEPTH_MAX && findExcess(value) !== undefined ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Parses JSON text that should hold an object; `undefined` when it does not. Never throws. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

// A number that `JSON.parse` and back does not return as written: 1.0, 1e3, -0, 0.0000001, or 16 digits and more.
const FRAGILE_NUMBER = /\d\.\d*0(?!\d)|\d[eE][-+\d]|(?:\d\.?){16}|-0(?![.\d])|0\.0{6}/;

/**
 * Whether plain `JSON.parse` may lose how a number in this text was written (`1.0` becomes `1`,
 * `12345678901234567890` becomes `12345678901234567000`). May say yes for text that only looks so.
 */
export function hasFragileNumbers(text: string): boolean {
  return FRAGILE_NUMBER.test(text);
}

/** Every number of so many decimal digits comes back from a double as it was. */
const DIGITS_SAFE = 15;
const POINT = 46;
const ZERO = 48;
const NINE = 57;

/**
 * Whether the text holds a number of 16 digits or more, which a double may not keep. May say yes for text that only looks
 * so. A run of 16 reaches every 16th place, so that only those are looked at: 12 us for 50 kB, of which parsing takes 20.
 */
export function hasLongNumbers(text: string): boolean {
  for (let at = DIGITS_SAFE; at < text.length; at += DIGITS_SAFE + 1)
    if (isDigitOrPoint(text.charCodeAt(at)) && countDigits(text, at) > DIGITS_SAFE) return true;
  return false;
}

/** Digits of the run around `at`, as far as they matter: texts may be one run of digits and points. */
function countDigits(text: string, at: number): number {
  let digits = 0;
  // One more than the digits: a number has a point in it, too.
  const reach = DIGITS_SAFE + 1;
  for (let left = at; left >= at - reach && isDigitOrPoint(text.charCodeAt(left)); left--)
    if (text.charCodeAt(left) !== POINT) digits++;
  for (let right = at + 1; right <= at + reach && isDigitOrPoint(text.charCodeAt(right)); right++)
    if (text.charCodeAt(right) !== POINT) digits++;
  return digits;
}

/** False for what is no character, before the beginning or after the end. */
function isDigitOrPoint(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === POINT;
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

/**
 * Parses JSON so that `JSON.stringify` writes every number as it stood: each that would change is an `ExactNumber`. About
 * ten times slower than `JSON.parse`. @throws SyntaxError as `JSON.parse`
 */
export function parseKeepingNumbers(text: string): Json {
  const value: Json = JSON.parse(text, keepNumber);
  return value;
}

/** What `parseKeepingNumbers` revives values with, for what is more than JSON: its types are the reader's affair. */
export const keepNumber: SourceReviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? new ExactNumber(context.source)
    : value;
