import { REDACTED_TEXT } from './redact-secrets.ts';

/** Any credential is longer; a header like `x-mode: fast` is none. */
const SECRET_CHARS_MIN = 8;

/** Redacts these values. A credential without a well-known prefix can only be found by its value. */
export function redactValues(text: string, secrets: Iterable<string>): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < SECRET_CHARS_MIN) continue;
    clean = clean.replaceAll(secret, REDACTED_TEXT);
    // The text may have been truncated within the secret.
    for (let chars = secret.length - 1; chars >= SECRET_CHARS_MIN; chars--)
      if (clean.endsWith(secret.slice(0, chars))) clean = clean.slice(0, -chars) + REDACTED_TEXT;
  }
  return clean;
}
