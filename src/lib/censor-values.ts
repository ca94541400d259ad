import { CENSOR } from './censor-secrets.ts';

/** Shorter than any credential; a header like `x-mode: fast` is none. */
const SECRET_CHARS_MIN = 8;

/** A text without these values: only the value itself tells a credential that has no well-known beginning. */
export function censorValues(text: string, secrets: Iterable<string>): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < SECRET_CHARS_MIN) continue;
    clean = clean.replaceAll(secret, CENSOR);
    // The text may have been cut to its bound: its end may be the beginning of the secret.
    for (let chars = secret.length - 1; chars >= SECRET_CHARS_MIN; chars--)
      if (clean.endsWith(secret.slice(0, chars))) clean = clean.slice(0, -chars) + CENSOR;
  }
  return clean;
}
