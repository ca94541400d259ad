import { invalid, type GatewayError } from '../../../canonical/gateway-error.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

/** Collects what was read in another way than it was written. */
export type Warn = (code: Warning['code'], path: string, message: string) => void;

/** A fault in the conversation. */
export function invalidPrompt(path: string, message: string): GatewayError {
  return invalid(path, message, 'invalid_prompt');
}

/** Null members are absent members. */
export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** @throws GatewayError 400 where the member is absent or no text */
export function requireText(object: JsonObject, member: string, path: string): string {
  const value = object[member];
  if (typeof value !== 'string') throw invalidPrompt(`${path}.${member}`, 'must be a string');
  return value;
}

/** @throws GatewayError 400 where the member is there and no text */
export function optionalText(object: JsonObject, member: string, path: string): string | undefined {
  const value = object[member];
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'string') throw invalidPrompt(`${path}.${member}`, 'must be a string');
  return value;
}

/** @throws GatewayError 400 where the member is absent or no object */
export function requireObject(object: JsonObject, member: string, path: string): JsonObject {
  const value = object[member];
  if (!isJsonObject(value)) throw invalidPrompt(`${path}.${member}`, 'must be an object');
  return value;
}

/** The entries of a list, each with its path; none where the member is absent. @throws GatewayError 400 for anything else */
export function listOf(
  object: JsonObject,
  member: string,
  path: string,
): readonly { readonly value: JsonObject; readonly path: string }[] {
  const value = object[member];
  if (isAbsent(value)) return [];
  if (!Array.isArray(value)) throw invalidPrompt(`${path}.${member}`, 'must be an array');
  const entries: readonly Json[] = value;
  return entries.map((entry, at) => {
    const entryPath = `${path}.${member}[${at}]`;
    if (!isJsonObject(entry)) throw invalidPrompt(entryPath, 'must be an object');
    return { value: entry, path: entryPath };
  });
}
