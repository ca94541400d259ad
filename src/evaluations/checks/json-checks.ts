import { isJsonObject, parseJson, type Json } from '../../lib/json.ts';
import type { ExpectedCalls } from '../../resources/evaluations.ts';

const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/i;

/** The JSON of a text, with or without a fence around it. */
export function jsonIn(text: string): Json | undefined {
  return parseJson(FENCED.exec(text)?.[1] ?? text);
}

/** Whether two values are the same, whatever the order of members. */
export function isSameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((item: Json, at) => isSameJson(item, right[at]));
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
  );
}

/** Whether there are exactly the expected calls, in any order. Where no arguments are expected, any will do. */
export function areExpectedCalls(
  calls: readonly { readonly name: string; readonly input: string }[],
  expected: ExpectedCalls,
): boolean {
  if (calls.length !== expected.length) return false;
  const left = [...calls];
  // Those with arguments first: they fit fewer calls.
  const strict = expected.toSorted((one, other) => Number('arguments' in other) - Number('arguments' in one));
  return strict.every(({ name, arguments: values }) => {
    const at = left.findIndex(
      (call) => call.name === name && (values === undefined || isSameJson(parseJson(call.input || '{}'), values)),
    );
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
