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

/** As a header may have it, too, and as a URL. */
function formsOf(text: string): readonly string[] {
  const words = text.split(/\s+/);
  return [text, ...words].flatMap((word) => [
    word,
    encodeURIComponent(word.toWellFormed()),
    Buffer.from(word).toString('base64'),
  ]);
}

function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
