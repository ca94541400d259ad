import { REDACTED_TEXT, redactSecrets } from '../../lib/text/redact-secrets.ts';
import { dataUrlHead } from '../../lib/net/data-url.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

/** @spec stream-12: long base64 is not shown. */
const BASE64_CHARS_MAX = 256;
/** Deeper than any request that means something. */
const DEPTH_MAX = 64;
const BASE64_START = /^[A-Za-z0-9+/_=-]+$/;
const SECRET_MEMBER =
  /^(?:authorization|proxy-authorization|cookie|(?:x-)?api[-_]?key|.*(?:secret|password|access[-_]?token))$/i;

/** A request body fit to be shown: secrets and long base64 are taken out. @spec stream-12 */
export function redactBody(body: JsonObject): JsonObject {
  return redactObject(body, 0);
}

function redactObject(object: JsonObject, depth: number): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([member, value]) => [
      member,
      typeof value === 'string' && SECRET_MEMBER.test(member) ? REDACTED_TEXT : redactValue(value, depth + 1),
    ]),
  );
}

function redactValue(value: Json | undefined, depth: number): Json | undefined {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) return REDACTED_TEXT;
  if (Array.isArray(value)) return (value as readonly Json[]).map((entry) => redactValue(entry, depth + 1) ?? null);
  return isJsonObject(value) ? redactObject(value, depth) : value;
}

function redactText(text: string): string {
  // The start is enough: prose of this length has a space in it.
  const head = dataUrlHead(text);
  const dataFrom = head?.isBase64 === true ? head.length : 0;
  if (text.length > BASE64_CHARS_MAX && BASE64_START.test(text.slice(dataFrom, dataFrom + BASE64_CHARS_MAX))) {
    return `${text.slice(0, dataFrom)}[${text.length - dataFrom} characters of base64]`;
  }
  return redactSecrets(text);
}
