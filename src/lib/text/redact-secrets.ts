/** Replaces a secret. */
export const REDACTED_TEXT = '[redacted]';

// Prefixes of vendors' keys; with `*` because hosts repeat a key half masked ("sk-ab***yz"). The last ones also begin
// ordinary words ("key_frames"): only a digit or a mask makes those a key. The look-ahead is bounded: unbounded, it would be quadratic.
const SECRET =
  /\b(?:sk|pk|rk|gsk|xai|mgw|pplx|nvapi)[-_][\w*-]{8,}|\bAIza[\w*-]{16,}|\b(?:key|hf|fw|r8)[-_](?=[A-Za-z_-]{0,64}[\d*])[\w*-]{8,}|\bBearer\s+[^\s"]+/gi;

/** Redacts everything that looks like a credential by its prefix. A credential without a well-known prefix stays. */
export function redactSecrets(text: string): string {
  return text.replace(SECRET, REDACTED_TEXT);
}
