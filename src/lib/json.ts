import { DEPTH_MAX, findExcess } from './json-bounds.ts';

/** A JSON value as `JSON.parse` gives it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. Members are read-only: a change makes a new object. */
export interface JsonObject {
  readonly [member: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

interface ReviverContext {
  readonly source?: string;
}
type SourceReviver = (key: string, value: Json, context?: ReviverContext) => unknown;

declare global {
  interface JSON {
    /** @source TC39 "JSON.parse source text access"; not yet in TypeScript's own library */
    rawJSON(text: string): unknown;
  }
}

/**
 * Parses JSON so that `JSON.stringify` writes every number as it stood. Such numbers become opaque objects, so the
 * result is fit for writing out again, not for reading values. About ten times slower than `JSON.parse`.
 * @source TC39 "JSON.parse source text access", in V8 since 11.4
 */
export function parseKeepingNumbers(text: string): unknown {
  const keepSource: SourceReviver = (_key, value, context) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? JSON.rawJSON(context.source)
      : value;
  return JSON.parse(text, keepSource);
}
