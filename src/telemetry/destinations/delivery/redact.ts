import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

const MESSAGE_CHARS_MAX = 300;
const SECRET_CHARS_MIN = 4;

/** Makes texts of an address safe to keep: its answers may repeat what it was sent. */
export type Redact = (text: string) => string;

/** @param secrets members of the configuration, whose values never show */
export function createRedact(config: JsonObject, secrets: readonly string[]): Redact {
  const values = secrets.flatMap((member) => textsIn(config[member])).flatMap(formsOf);
  const long = [...new Set(values)]
    .filter((value) => value.length >= SECRET_CHARS_MIN)
    .toSorted((one, other) => other.length - one.length);
  return (text) => long.reduce((left, secret) => left.replaceAll(secret, '***'), text).slice(0, MESSAGE_CHARS_MAX);
}

/** Shorter parts of a header are names of schemes: `Bearer`. */
const PART_CHARS_MIN = 8;

/** What of a header an address may repeat alone: `Basic PAIR`, `sentry_key=KEY`. */
export function partsOfHeader(value: string): readonly string[] {
  const parts = value.split(/[\s,;]+/).map((part) => /^[\w-]+=([^=].*)$/.exec(part)?.[1] ?? part);
  return [value, ...parts.filter((part) => part.length >= PART_CHARS_MIN)].flatMap((part) => [part, inJson(part)]);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As a header may have it, too, as a URL, and as JSON. */
function formsOf(text: string): readonly string[] {
  const words = text.split(/\s+/);
  return [text, ...words].flatMap((word) => [
    word,
    inJson(word),
    encodeURIComponent(word.toWellFormed()),
    Buffer.from(word).toString('base64'),
  ]);
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
